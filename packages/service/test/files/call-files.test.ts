import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { requireFiles, withFileLinks } from '../../src/files/file-refs.ts';
import { type Harness, startHarness, type TestAccount } from '../support/harness.ts';
import { answerWith, echo, startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { balanceOf, type Client, newClient } from '../support/treasury.ts';
import { until } from '../support/until.ts';
import { newContent, sha256Of } from './support/file-actions.ts';

let h: Harness;
let agent: TestAgent;
let client: Client;
let stranger: TestAccount;
beforeAll(async () => {
  h = await startHarness();
  agent = await startTestAgent(h, { perRequest: '0.05' });
  client = await newClient(h, '10.00');
  stranger = await h.newAccount();
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});
beforeEach(() => {
  agent.behave(echo);
  agent.calls.length = 0;
});

async function upload(key: string, body = newContent(3000)) {
  const headers = { 'content-type': 'image/png', 'content-disposition': 'attachment; filename="a.png"' };
  const { data } = (await h.request('POST', '/files', { key, text: body, headers })).body;
  return { id: data.fileId as string, body };
}

const call = (input: unknown, { key = client.key, ...more }: { key?: string; deadline?: string } = {}) =>
  h.request('POST', `/invoke/${agent.id}`, {
    key,
    body: { task: 'look', input, ...more },
    headers: { 'x-sync': 'true' },
  });

/** As an agent fetches it: without a key. */
async function fetched(url: string) {
  const response = await fetch(url);
  return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) };
}

it('an agent gets each file with its facts and a link, and nobody else does', async () => {
  const { id, body } = await upload(client.key);
  const other = await upload(client.key);
  const input = { pictures: [{ $file: id, note: 'first' }, { deep: { $file: other.id } }], $file: 'my own' };
  const answer = await call(input);
  expect(answer.status).toBe(200);
  const sent = agent.calls[0]?.body.input;
  expect(sent).toEqual({
    pictures: [
      { ...{ $file: id, note: 'first', mediaType: 'image/png', name: 'a.png', size: 3000 }, url: expect.any(String) },
      { deep: { ...{ $file: other.id, mediaType: 'image/png', name: 'a.png', size: 3000 }, url: expect.any(String) } },
    ],
    $file: 'my own',
  });
  const { url } = sent.pictures[0];
  expect((await fetched(url)).bytes.equals(body)).toBe(true);
  expect(JSON.stringify(agent.calls)).not.toContain(client.key);
  // Of this request only.
  expect((await fetched(url.replace(/request=[^&]+/, 'request=req_another'))).status).toBe(404);
  expect((await fetched(url.replace(/request=[^&]+&/, ''))).status).toBe(404);
  // What is stored is what was sent, without links.
  const { requestId } = answer.body.data;
  const [stored] = await h.ctx.db.query<{ input: string }>(
    '',
    'select input::text as input from invocation where id = $1',
    [requestId],
  );
  expect(JSON.parse(stored?.input ?? '')).toEqual(input);
});

it('an answer to a question may have files, with links that are the same in each turn', async () => {
  const [first, foreign] = [await upload(client.key), await upload(stranger.key)];
  agent.behave((request, response) => {
    const answers: { input: object }[] = request.body.answers ?? [];
    const asks = { status: 'input_required', input: { message: 'Which picture?' } };
    const body = answers.length < 2 ? asks : { result: answers.map(({ input }) => input) };
    return answerWith(200, body)(request, response);
  });
  const body = { task: 'look', interactive: true, input: { at: { $file: first.id } } };
  const asked = await h.request('POST', `/invoke/${agent.id}`, {
    ...{ key: client.key, body, headers: { 'x-sync': 'true' } },
  });
  const { requestId } = asked.body.data;
  const read = async () => (await h.request('GET', `/invoke/${requestId}`, { key: client.key })).body.data;
  const answer = async (fileId: string) => {
    const record = await until(async () => {
      const each = await read();
      return each.status === 'input_required' ? each : null;
    });
    const given = { inputId: record.inputRequest.inputId, action: 'accept', input: { picture: { $file: fileId } } };
    return h.request('POST', `/invoke/${requestId}/input`, { key: client.key, body: given });
  };
  expect((await answer(foreign.id)).body.error.code).toBe('FILE_NOT_FOUND');
  const second = await upload(client.key);
  for (const { id } of [first, second]) expect((await answer(id)).status).toBe(200);
  const ended = await until(async () => {
    const each = await read();
    return each.status === 'completed' ? each : null;
  });
  expect(ended.cost).toBe('0.05');
  const told = agent.calls.map(({ body: sent }) => sent);
  const [, once, twice] = told;
  expect(told.map(({ input }) => input.at.url)).toEqual(Array(3).fill(told[0].input.at.url));
  expect(twice.answers[0]).toEqual(once.answers[0]);
  expect((await fetched(twice.answers[1].input.picture.url)).bytes.equals(second.body)).toBe(true);
});

it('an unknown file and that of another account are refused alike, before anything is charged', async () => {
  const foreign = await upload(stranger.key);
  const before = await balanceOf(h, client.key);
  const told = [];
  for (const id of [foreign.id, `sha256:${sha256Of(newContent(9))}`]) {
    const { status, body } = await call({ a: { $file: id } });
    told.push([status, body.error.code, body.error.message.replace(id, '')]);
  }
  expect(told[0]).toEqual(told[1]);
  expect(told[0]?.slice(0, 2)).toEqual([422, 'FILE_NOT_FOUND']);
  const bulk = { task: 'x', agents: [agent.id], input: { a: { $file: foreign.id } } };
  expect((await h.request('POST', '/invoke/bulk', { key: client.key, body: bulk })).status).toBe(422);
  // A file is its owner's, also for an agent that it owns.
  expect((await call({ a: { $file: foreign.id } }, { key: agent.identityToken })).body.error.code).toBe(
    'FILE_NOT_FOUND',
  );
  expect(agent.calls).toEqual([]);
  expect(await balanceOf(h, client.key)).toEqual(before);
  const many = Array.from({ length: 51 }, (_, nth) => ({ $file: `sha256:${sha256Of(Buffer.from(`${nth}`))}` }));
  expect((await call({ many })).body.error.code).toBe('VALIDATION_ERROR');
});

it('files that an agent does not take are refused before anything is charged', async () => {
  const picture = { type: 'object', required: ['$file'], 'x-file': { mediaTypes: ['image/*'], maxBytes: 5000 } };
  const owner = await h.newAccount();
  const typed = await startTestAgent(h, { owner, perRequest: '0.05' });
  const types = { inputSchema: { type: 'object', properties: { pictures: { type: 'array', items: picture } } } };
  const declare = (declared: unknown) =>
    h.request('PUT', `/agents/${typed.id}`, { key: owner.key, body: { types: declared } });
  expect((await declare(types)).status).toBe(200);
  const invoke = (body: object, path = `/invoke/${typed.id}`) =>
    h.request('POST', path, { key: client.key, body: { task: 'look', ...body }, headers: { 'x-sync': 'true' } });
  const [fits, large] = await Promise.all([upload(client.key), upload(client.key, newContent(5001))]);
  const text = (await h.request('POST', '/files', { key: client.key, text: newContent(10) })).body.data.fileId;
  const before = await balanceOf(h, client.key);
  for (const id of [large.id, text]) {
    // What the caller says of its file counts for nothing.
    const input = { pictures: [{ $file: fits.id }, { $file: id, mediaType: 'image/png', size: 1 }] };
    const bulk = { agents: [typed.id], input };
    for (const answer of [
      await invoke({ input }),
      await invoke(bulk, '/invoke/bulk'),
      await invoke({ input }, `/invoke/${typed.id}/quote`),
    ]) {
      expect(answer.status).toBe(400);
      expect(answer.body.error.details.fields).toEqual([
        { path: 'input.pictures.1', message: 'must be a file of type image/* of at most 5000 bytes' },
      ]);
    }
  }
  expect(await balanceOf(h, client.key)).toEqual(before);
  expect(typed.calls).toEqual([]);
  expect((await invoke({ input: { pictures: [{ $file: fits.id }] } })).status).toBe(200);
  for (const rule of [{ maxBytes: 0 }, { mediaTypes: [] }, { mediaTypes: ['*/*'] }, { types: ['a/b'] }, 'image/*']) {
    const { body } = await declare({ inputSchema: { type: 'object', 'x-file': rule } });
    expect(body.error.details.fields[0].path).toBe('types.inputSchema.x-file');
  }
  await typed.die();
});

it('a file is kept for as long as the call may need it', async () => {
  const { id } = await upload(client.key);
  await h.ctx.db.query('', `update file set expires_at = now() + interval '1 minute' where sha256 = $1`, [
    Buffer.from(id.slice('sha256:'.length), 'hex'),
  ]);
  const deadline = new Date(h.ctx.clock.now().getTime() + 7_200_000).toISOString();
  await call({ a: { $file: id } }, { deadline });
  const { expiresAt } = (await h.request('GET', `/files/${id}`, { key: client.key })).body.data;
  expect(Date.parse(expiresAt) - Date.parse(deadline)).toBe(3_600_000);
});

it('a file is kept for as long as the questions of an interactive call may take', async () => {
  const { fileId } = (await h.request('POST', '/files?expiresIn=3600', { key: client.key, text: newContent(100) })).body
    .data;
  const called = Date.now();
  const body = { task: 'look', input: { picture: { $file: fileId } }, interactive: true };
  const answer = await h.request('POST', `/invoke/${agent.id}`, { key: client.key, body });
  expect(answer.status).toBe(200);
  const { expiresAt } = (await h.request('GET', `/files/${fileId}`, { key: client.key })).body.data;
  expect(Date.parse(expiresAt)).toBeGreaterThanOrEqual(called + 25 * 3_600_000 - 1000);
});

it('the link ends when the call is cancelled, and with the file', async () => {
  const silent = await startTestAgent(h, { perRequest: '0.05', behaviour: () => undefined });
  const { id, body } = await upload(client.key);
  const begin = async () => {
    silent.calls.length = 0;
    const answer = await h.request('POST', `/invoke/${silent.id}`, {
      key: client.key,
      body: { task: 'look', input: { a: { $file: id } } },
    });
    await until(async () => silent.calls.length > 0);
    return { requestId: answer.body.data.requestId as string, url: silent.calls[0]?.body.input.a.url as string };
  };
  const first = await begin();
  expect((await fetched(first.url)).bytes.equals(body)).toBe(true);
  await h.request('POST', `/invoke/${first.requestId}/cancel`, { key: client.key });
  expect((await fetched(first.url)).status).toBe(404);
  const second = await begin();
  expect((await fetched(second.url)).status).toBe(200);
  await h.request('DELETE', `/files/${id}`, { key: client.key });
  expect((await fetched(second.url)).status).toBe(404);
  await h.request('POST', `/invoke/${second.requestId}/cancel`, { key: client.key });
  await silent.die();
});

it('a call without files asks nothing about files', async () => {
  const names: string[] = [];
  const spying = { query: (name: string) => Promise.resolve(names.push(name)) };
  const use = { ownerId: client.accountId, deadline: new Date(), requestId: 'req_x' };
  const input = { text: 'hello', list: [1, { a: null }] };
  await requireFiles({ db: spying as never }, input, use);
  expect(await withFileLinks({ ...h.ctx, db: spying as never }, input, use)).toBe(input);
  expect(names).toEqual([]);
});
