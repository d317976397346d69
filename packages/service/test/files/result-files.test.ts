import { createHash } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { canonicalJson } from '@agent-network/contracts/canonical-json';
import { verifyReceipt } from '@agent-network/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, startHarness, type TestAccount } from '../support/harness.ts';
import { answerWith, startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { balanceOf, type Client, newClient } from '../support/treasury.ts';
import { holdRemovals, newContent, nothingStored, removeNow, sha256Of, storedFiles } from './support/file-actions.ts';

let h: Harness;
let agent: TestAgent;
let client: Client;
let stranger: TestAccount;
/** A site where an agent puts its files. */
const site = createServer((request, response) => serve(request, response));
let serve: RequestListener;
let siteUrl: string;
beforeAll(async () => {
  h = await startHarness({ env: { MAX_FILE_MIB: '2' } });
  await holdRemovals(h);
  agent = await startTestAgent(h, { perRequest: '0.05' });
  client = await newClient(h, '10.00');
  stranger = await h.newAccount();
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
});
afterAll(async () => {
  site.close();
  site.closeAllConnections();
  await agent.die();
  await h.stop();
});

const urlOf = (bytes: Buffer, type = 'image/png') => `data:${type};base64,${bytes.toString('base64')}`;

async function call(result: unknown, { key = client.key, ...more }: { key?: string; deadline?: string } = {}) {
  agent.behave(answerWith(200, { result }));
  const headers = { 'x-sync': 'true' };
  const answer = await h.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'draw', ...more }, headers });
  return answer.body.data;
}

async function content(fileId: string, headers: Record<string, string>, query = '') {
  const response = await fetch(`${h.baseUrl}/files/${fileId}/content${query}`, { headers });
  return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()), headers: response.headers };
}
const bearer = ({ key }: { key: string }) => ({ authorization: `Bearer ${key}` });

it('media of a result become files of the caller, named in the receipt', async () => {
  const [picture, sound] = [newContent(200_000), newContent(100_000)];
  const given = {
    picture: urlOf(picture),
    parts: [{ raw: sound.toString('base64'), mediaType: 'audio/wav', filename: '../a.wav' }, { text: 'hello' }],
    small: urlOf(newContent(1000)),
  };
  const record = await call(given);
  const id = `sha256:${sha256Of(picture)}`;
  const soundId = `sha256:${sha256Of(sound)}`;
  expect(record).toMatchObject({ status: 'completed', cost: '0.05' });
  expect(record.result).toEqual({
    picture: { $file: id, mediaType: 'image/png', size: 200_000 },
    parts: [
      {
        ...{ $file: soundId, mediaType: 'audio/wav', name: 'a.wav', size: 100_000 },
        filename: '../a.wav',
      },
      { text: 'hello' },
    ],
    small: given.small,
  });
  const { bytes, headers } = await content(id, bearer(client));
  expect(bytes.equals(picture)).toBe(true);
  expect(headers.get('content-type')).toBe('image/png');
  const { data } = (await h.request('GET', `/files/${soundId}`, { key: client.key })).body;
  expect(data).toMatchObject({ size: 100_000, mediaType: 'audio/wav', name: 'a.wav' });
  expect(Date.parse(data.expiresAt) - Date.now()).toBeGreaterThan(89 * 86_400_000);
  const { data: receipt } = (await h.request('GET', `/invoke/${record.requestId}/receipt`, { key: client.key })).body;
  const hash = createHash('sha256')
    .update(canonicalJson([id, soundId].sort()))
    .digest('hex');
  expect(receipt.message.filesHash).toBe(`0x${hash}`);
  expect((await verifyReceipt(receipt, { wallet: receipt.signer })).filesHash).toBe(`0x${hash}`);
});

it('files of a result are read by who may read the result, and nobody else finds out about them', async () => {
  const bytes = newContent(80_000);
  const [{ requestId, result }, other] = [
    await call({ a: urlOf(bytes) }),
    await call({ a: urlOf(newContent(80_000)) }),
  ];
  const { $file: id } = result.a;
  const query = `?request=${requestId}`;
  expect((await content(id, bearer(client), query)).bytes.equals(bytes)).toBe(true);
  expect((await content(id, bearer(client), `?request=${other.requestId}`)).status).toBe(404);
  for (const reader of [stranger, { key: agent.identityToken }])
    for (const asked of ['', query]) expect((await content(id, bearer(reader), asked)).status).toBe(404);
  expect((await content(id, {}, query)).status).toBe(401);
  // An agent cannot make a file of its caller readable by naming it.
  const own = (await h.request('POST', '/files', { key: client.key, text: newContent(900) })).body.data.fileId;
  const named = await call({ a: { $file: own } });
  expect(named.result).toEqual({ a: { $file: own } });
  expect((await content(own, bearer(client), `?request=${named.requestId}`)).status).toBe(404);
});

it('a visitor reads the files of a result by its resultToken alone', async () => {
  const free = await startTestAgent(h, { perRequest: '0' });
  const bytes = newContent(90_000);
  free.behave(answerWith(200, { result: { a: urlOf(bytes) } }));
  const { data } = (
    await h.request('POST', `/x402/${free.id}`, { body: { task: 'draw' }, headers: { 'x-sync': 'true' } })
  ).body;
  const { $file: id } = data.result.a;
  const token = { 'x-result-token': data.resultToken };
  expect((await content(id, token, `?request=${data.requestId}`)).bytes.equals(bytes)).toBe(true);
  expect((await content(id, token)).status).toBe(401);
  const { requestId, result } = await call({ a: urlOf(newContent(90_000)) });
  expect((await content(result.a.$file, token, `?request=${requestId}`)).status).toBe(401);
  expect((await content(result.a.$file, token, `?request=${data.requestId}`)).status).toBe(404);
  await free.die();
});

it('a result of a megabyte has media besides, up to the size of a file', async () => {
  const large = newContent(1_500_000);
  const record = await call({ a: urlOf(large), text: 'x'.repeat(900_000) });
  expect(record.status).toBe('completed');
  expect((await content(record.result.a.$file, bearer(client))).bytes.equals(large)).toBe(true);
  const before = await balanceOf(h, client.key);
  for (const result of [
    { a: urlOf(newContent(2_200_000)) },
    { a: urlOf(large), text: 'x'.repeat(1_100_000) },
    [1, 2].map(() => urlOf(newContent(1_100_000))),
  ])
    expect(await call(result)).toMatchObject({ status: 'failed', error: { code: 'response_too_large' }, cost: '0.00' });
  expect(await balanceOf(h, client.key)).toEqual(before);
});

it('media come in events, too', async () => {
  const bytes = newContent(1_200_000);
  agent.behave((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(
      `event: chunk\ndata: hello\n\nevent: result\ndata: ${JSON.stringify({ result: { a: urlOf(bytes) } })}\n\n`,
    );
  });
  const body = { task: 'draw', stream: true };
  const response = await fetch(`${h.baseUrl}/invoke/${agent.id}`, {
    method: 'POST',
    headers: { ...bearer(client), 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify(body),
  });
  const id = `sha256:${sha256Of(bytes)}`;
  expect(await response.text()).toContain(id);
  expect((await content(id, bearer(client))).bytes.equals(bytes)).toBe(true);
});

describe('a file at an address', () => {
  it('is fetched once, and is a file of the caller', async () => {
    const bytes = newContent(5000);
    let asked = 0;
    serve = (_request, response) => {
      asked += 1;
      response.writeHead(200, { 'content-type': 'image/webp; x=y' }).write(bytes.subarray(0, 100));
      response.end(bytes.subarray(100));
    };
    const given = { $file: { url: `${siteUrl}/dir/a%20b.webp?secret=1` }, alt: 'A' };
    const { result } = await call([given, given]);
    const file = {
      $file: `sha256:${sha256Of(bytes)}`,
      mediaType: 'image/webp',
      name: 'a%20b.webp',
      size: 5000,
      alt: 'A',
    };
    expect(result).toEqual([file, file]);
    expect(asked).toBe(1);
    expect((await content(file.$file, bearer(client))).bytes.equals(bytes)).toBe(true);
  });

  it.each<[string, RequestListener]>([
    ['is not there', (_request, response) => response.writeHead(404).end()],
    ['is too large', (_request, response) => response.end(newContent(2_200_000))],
    [
      'is said to be larger than it is',
      (_request, response) => response.writeHead(200, { 'content-length': 9 }).destroy(),
    ],
    ['is elsewhere', (_request, response) => response.writeHead(302, { location: `${siteUrl}/b` }).end()],
  ])('that %s stays an address, marked as external', async (_what, listener) => {
    serve = listener;
    const { result, status } = await call({ a: { $file: { url: `${siteUrl}/a` }, alt: 'A' } });
    expect([status, result]).toEqual([
      'completed',
      { a: { $file: { url: `${siteUrl}/a`, external: true }, alt: 'A' } },
    ]);
  });

  it('that is slower than the deadline stays one', async () => {
    serve = (_request, response) => void response.writeHead(200).write('a');
    const deadline = new Date(h.ctx.clock.now().getTime() + 3000).toISOString();
    const { result, status } = await call({ a: { $file: { url: `${siteUrl}/a` } } }, { deadline });
    expect([status, result.a.$file.external]).toEqual(['completed', true]);
  });

  it('that does not fit into the storage of the account stays one; media that came with the result are stored', async () => {
    const { key, accountId } = await h.newAccount({ plan: 'free' });
    const free = await startTestAgent(h, { perRequest: '0' });
    const limit = h.ctx.storageLimits.free;
    await h.ctx.db.query('', 'insert into storage_change (account_id, bytes) values ($1, $2)', [
      accountId,
      limit - 50_000,
    ]);
    serve = (_request, response) => response.end(newContent(60_000));
    free.behave(answerWith(200, { result: { a: { $file: { url: `${siteUrl}/a` } }, b: urlOf(newContent(70_000)) } }));
    const answer = await h.request('POST', `/invoke/${free.id}`, {
      key,
      body: { task: 'x' },
      headers: { 'x-sync': 'true' },
    });
    const { result } = answer.body.data;
    expect(result.a.$file.external).toBe(true);
    expect((await content(result.b.$file, bearer({ key }))).status).toBe(200);
    await free.die();
  });
});

it('nothing is kept of a result that is none, and no file is seen before its request completes', async () => {
  const { key, accountId } = await h.newAccount();
  const owner = await h.newAccount();
  const types = { outputSchema: { type: 'object', required: ['b'] } };
  const typed = await startTestAgent(h, { owner, perRequest: '0' });
  await h.request('PUT', `/agents/${typed.id}`, { key: owner.key, body: { types } });
  const bytes = newContent(70_000);
  let listed: unknown;
  serve = async (_request, response) => {
    listed = (await h.request('GET', '/files', { key })).body.data.files;
    response.end('x');
  };
  typed.behave(answerWith(200, { result: { a: urlOf(bytes), c: { $file: { url: `${siteUrl}/c` } } } }));
  const answer = await h.request('POST', `/invoke/${typed.id}`, {
    key,
    body: { task: 'x' },
    headers: { 'x-sync': 'true' },
  });
  expect(answer.body.data).toMatchObject({ status: 'failed', error: { code: 'result_invalid' } });
  expect(listed).toEqual([]);
  expect((await content(`sha256:${sha256Of(bytes)}`, bearer({ key }))).status).toBe(404);
  await removeNow(h);
  expect(await storedFiles(h, accountId)).toMatchObject({ files: 0, blobs: 0, pieces: 0 });
  await typed.die();
});

it('types that declare a text take the file that became of it', async () => {
  const owner = await h.newAccount();
  const typed = await startTestAgent(h, { owner, perRequest: '0' });
  const part = { type: 'object', required: ['data'], properties: { data: { type: 'string' } } };
  const types = { outputSchema: { type: 'object', required: ['b'], properties: { a: { type: 'string' }, b: part } } };
  await h.request('PUT', `/agents/${typed.id}`, { key: owner.key, body: { types } });
  const b = { data: newContent(70_000).toString('base64'), mimeType: 'image/png' };
  typed.behave(answerWith(200, { result: { a: urlOf(newContent(70_000)), b } }));
  const { body } = await h.request('POST', `/invoke/${typed.id}`, {
    key: client.key,
    body: { task: 'x' },
    headers: { 'x-sync': 'true' },
  });
  expect(body.data).toMatchObject({ status: 'completed', result: { a: { size: 70_000 }, b: { size: 70_000 } } });
  await typed.die();
});

it('a result with a file of another type or size than its agent declares is refunded', async () => {
  const owner = await h.newAccount();
  const typed = await startTestAgent(h, { owner, perRequest: '0.05' });
  const file = { type: 'object', required: ['$file'], 'x-file': { mediaTypes: ['image/png'], maxBytes: 80_000 } };
  const types = { outputSchema: { type: 'object', properties: { a: file } } };
  await h.request('PUT', `/agents/${typed.id}`, { key: owner.key, body: { types } });
  const invoke = async (a: unknown) => {
    typed.behave(answerWith(200, { result: { a } }));
    const headers = { 'x-sync': 'true' };
    return (await h.request('POST', `/invoke/${typed.id}`, { key: client.key, body: { task: 'x' }, headers })).body
      .data;
  };
  serve = (_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>');
  for (const a of [
    urlOf(newContent(80_001)),
    urlOf(newContent(70_000), 'image/webp'),
    { $file: { url: `${siteUrl}/a.png` } },
  ])
    expect(await invoke(a)).toMatchObject({ status: 'failed', error: { code: 'result_invalid' }, cost: '0.00' });
  expect(await invoke(urlOf(newContent(80_000)))).toMatchObject({ status: 'completed', cost: '0.05' });
  await typed.die();
});

it('the same content in two results is one file, which the later end keeps', async () => {
  const { key, accountId } = await h.newAccount();
  const free = await startTestAgent(h, { perRequest: '0' });
  free.behave(answerWith(200, { result: { a: urlOf(Buffer.alloc(70_000, 'a')) } }));
  const invoke = () =>
    h.request('POST', `/invoke/${free.id}`, { key, body: { task: 'x' }, headers: { 'x-sync': 'true' } });
  const [first, second] = await Promise.all([invoke(), invoke()]);
  expect(first.body.data.result).toEqual(second.body.data.result);
  await removeNow(h);
  expect(await storedFiles(h, accountId)).toMatchObject({ files: 1, blobs: 1, pieces: 1 });
  await h.request('DELETE', `/files/${first.body.data.result.a.$file}`, { key });
  await removeNow(h);
  expect(await storedFiles(h, accountId)).toMatchObject({ ...nothingStored, counted: expect.any(Number) });
  await free.die();
});
