import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { askDatabase, contradictions } from '../../support/books.ts';
import type { Harness } from '../../support/harness.ts';
import { borrowHarness } from '../../support/lent-harness.ts';
import { answerWith, startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { balanceOf, type Client, newClient, untilEnded } from '../../support/treasury.ts';
import { until } from '../../support/until.ts';
import { startWatch } from '../../support/watch.ts';
import { openSse, problemWithStream } from './support/sse-client.ts';
import { chunk, progress, result, says, spokenBy } from './support/streaming-agent.ts';

let h: Harness;
let agent: TestAgent;
let client: Client;
beforeAll(async () => {
  h = await borrowHarness();
  agent = await startTestAgent(h, { perRequest: '0.05' });
});
beforeEach(async () => {
  client = await newClient(h, '1.00');
});
afterAll(async () => {
  await agent.die();
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  await h.stop();
});

const invoke = (body: object = {}, headers: Record<string, string> = {}) =>
  openSse(h, 'POST', `/invoke/${agent.id}`, { key: client.key, body: { task: 'x', stream: true, ...body }, headers });
const follow = (requestId: string, headers: Record<string, string> = {}, query = '') =>
  openSse(h, 'GET', `/invoke/${requestId}/events${query}`, { key: client.key, headers });
const record = async (requestId: string) =>
  (await h.request('GET', `/invoke/${requestId}`, { key: client.key })).body.data;

describe('a streamed invocation', () => {
  it('tells created, status, progress and chunks as the agent says them, and ends with the record', async () => {
    const talk = spokenBy();
    agent.behave(talk.behaviour);
    const stream = await invoke({ input: { a: 1 } });
    expect(stream.headers.get('content-type')).toBe('text/event-stream');
    const [created, status] = await stream.take(2);
    expect(created).toMatchObject({ id: 1, type: 'invocation.created' });
    const { requestId } = created?.data ?? {};
    expect(created?.data).toMatchObject({ requestId, agentId: agent.id, status: 'pending', estimatedCost: '0.05' });
    expect(status).toMatchObject({ id: 2, type: 'invocation.status', data: { requestId, status: 'processing' } });

    const said = await talk.next();
    expect(said.request.headers.accept).toContain('text/event-stream');
    expect(said.request.body).toMatchObject({ stream: true, request_id: requestId, input: { a: 1 } });
    said.say(progress({ percent: 10 }));
    expect(await stream.next()).toEqual({ id: 3, type: 'invocation.status', data: { requestId, percent: 10 } });
    said.say(chunk('plain text'));
    expect(await stream.next()).toEqual({ id: 4, type: 'invocation.chunk', data: { requestId, chunk: 'plain text' } });
    said.say(chunk({ text: 'a', requestId: 'forged' }));
    expect(await stream.next()).toEqual({ id: 5, type: 'invocation.chunk', data: { requestId, text: 'a' } });
    said.say(chunk([1, 2]));
    expect(await stream.next()).toEqual({ id: 6, type: 'invocation.chunk', data: { requestId, chunk: [1, 2] } });
    said.say(result({ done: true }, { cost: '0.01' }));
    const [end, ...more] = await stream.rest();
    expect(more).toEqual([]);
    expect(end).toMatchObject({ id: 7, type: 'invocation.completed', data: { result: { done: true }, cost: '0.01' } });
    expect(end?.data).toEqual(await record(requestId));
    expect(await balanceOf(h, client.key)).toEqual({ available: '0.99', held: '0.00' });
  });

  it('tells the end at once, however the words and the end of the agent fall together', async () => {
    agent.behave(says(chunk('a'), chunk('b'), result('c')));
    for (let run = 0; run < 40; run++) {
      const tookMs = startWatch();
      const events = await (await invoke()).rest();
      expect(problemWithStream(events)).toBeNull();
      expect(events.length).toBe(5);
      expect(tookMs()).toBeLessThan(2000);
      if (run % 10 === 9) client = await newClient(h, '1.00');
    }
  });

  it('without Accept: text/event-stream answers JSON, and its events can be read all the same', async () => {
    agent.behave(says(chunk('a'), result('b')));
    const { body } = await h.request('POST', `/invoke/${agent.id}`, {
      key: client.key,
      body: { task: 'x', stream: true },
    });
    expect(body.data.requestId).toMatch(/^req_/);
    const events = await (await follow(body.data.requestId)).rest();
    expect(problemWithStream(events)).toBeNull();
    expect(events.map(({ type }) => type.split('.')[1])).toEqual(['created', 'status', 'chunk', 'completed']);
  });

  it('with Accept: text/event-stream but without stream: true answers JSON', async () => {
    agent.behave(answerWith(200, { result: 1 }));
    const { headers, body } = await h.request('POST', `/invoke/${agent.id}`, {
      key: client.key,
      body: { task: 'x' },
      headers: { accept: 'text/event-stream', 'x-sync': 'true' },
    });
    expect(headers.get('content-type')).toBe('application/json');
    expect(body.data.result).toBe(1);
  });

  it('of an agent that does not stream although it was asked is a stream without chunks', async () => {
    agent.behave(answerWith(200, { result: 'whole' }));
    const events = await (await invoke()).rest();
    expect(problemWithStream(events)).toBeNull();
    expect(events.map(({ type }) => type.split('.')[1])).toEqual(['created', 'status', 'completed']);
    expect(events.at(-1)?.data.result).toBe('whole');
  });

  it('refuses as JSON before anything streams', async () => {
    const poor = await newClient(h, '0.01');
    for (const [key, status] of [
      [poor.key, 422],
      [(await h.newAccount()).key, 402],
      ['nonsense', 401],
    ] as const) {
      const answer = await h.request('POST', `/invoke/${agent.id}`, {
        key,
        body: { task: 'x', stream: true },
        headers: { accept: 'text/event-stream' },
      });
      expect({ status: answer.status, type: answer.headers.get('content-type') }).toEqual({
        status,
        type: 'application/json',
      });
    }
  });
});

describe('the events of a request', () => {
  it('are read again from any point by Last-Event-ID and by after, each once; with the last id, 204', async () => {
    agent.behave(says(chunk(1), chunk(2), chunk(3), result('end')));
    const all = await (await invoke()).rest();
    expect(problemWithStream(all)).toBeNull();
    const { requestId } = all[0]?.data ?? {};
    for (let after = 0; after < all.length; after++) {
      const left = all.slice(after);
      expect(await (await follow(requestId, { 'last-event-id': `${after}` })).rest()).toEqual(left);
      expect(await (await follow(requestId, {}, `?after=${after}`)).rest()).toEqual(left);
    }
    // An EventSource comes back after all but 204, for ever.
    const path = `/invoke/${requestId}/events`;
    for (const after of [`${all.length}`, `${all.length + 1}`, '99'])
      for (const answer of await Promise.all([
        h.request('GET', path, { key: client.key, headers: { 'last-event-id': after } }),
        h.request('GET', `${path}?after=${after}`, { key: client.key }),
      ]))
        expect([answer.status, answer.body, answer.headers.get('content-type')]).toEqual([204, '', null]);
  });

  it('reach two readers at once, and one that resumed in between, the same', async () => {
    const talk = spokenBy();
    agent.behave(talk.behaviour);
    const first = await invoke();
    const { requestId } = (await first.next())?.data ?? {};
    const second = await follow(requestId);
    const said = await talk.next();
    said.say(chunk('a'));
    said.say(chunk('b'));
    await second.take(4);
    const resumed = await follow(requestId, { 'last-event-id': '3' });
    expect(await resumed.next()).toMatchObject({ id: 4, data: { chunk: 'b' } });
    said.say(chunk('c'));
    said.say(result('d'));
    const [a, b, c] = await Promise.all([first.rest(), second.rest(), resumed.rest()]);
    expect(a?.map(({ id }) => id)).toEqual([2, 3, 4, 5, 6]);
    expect(b).toEqual(a?.slice(3));
    expect(c).toEqual(a?.slice(3));
  });

  it('are told at once to the reader of a request that runs here, not at the next look', async () => {
    const talk = spokenBy();
    agent.behave(talk.behaviour);
    const stream = await invoke();
    await stream.take(2);
    const said = await talk.next();
    for (let turn = 0; turn < 50; turn++) {
      const tookMs = startWatch();
      said.say(chunk(turn));
      expect(await stream.next()).toMatchObject({ id: 3 + turn, data: { chunk: turn } });
      expect(tookMs()).toBeLessThan(2000);
    }
    said.say(result(null));
    expect(await stream.rest()).toHaveLength(1);
  });

  it('of other people and of nothing are NOT_FOUND', async () => {
    agent.behave(says(result(1)));
    const { requestId } = (await (await invoke()).rest())[0]?.data ?? {};
    const stranger = await h.newAccount();
    for (const [path, key] of [
      [`/invoke/${requestId}/events`, stranger.key],
      [`/invoke/${requestId}/events`, agent.identityToken],
      ['/invoke/req_00000000000000000000000000/events', client.key],
    ] as const)
      expect((await h.request('GET', path, { key })).status).toBe(404);
  });

  it('restart with an empty Last-Event-ID, and resume by query for polyfills of EventSource that keep one address', async () => {
    agent.behave(says(chunk(1), chunk(2), result('end')));
    const all = await (await invoke()).rest();
    const { requestId } = all[0]?.data ?? {};
    expect(await (await follow(requestId, { 'last-event-id': '' })).rest()).toEqual(all);
    expect(await (await follow(requestId, {}, '?lastEventId=2')).rest()).toEqual(all.slice(2));
    expect(await (await follow(requestId, {}, '?after=1&lastEventId=3')).rest()).toEqual(all.slice(3));
    const header = { 'last-event-id': '4' };
    expect(await (await follow(requestId, header, '?after=1&lastEventId=3')).rest()).toEqual(all.slice(4));
    const wrong = await h.request('GET', `/invoke/${requestId}/events?lastEventId=x`, { key: client.key });
    expect(wrong.status).toBe(400);
  });

  it('refuse an id that is none', async () => {
    for (const id of ['x', '-1', '1.5', '12345678'])
      expect(
        (await h.request('GET', '/invoke/req_1/events', { key: client.key, headers: { 'last-event-id': id } })).status,
      ).toBe(400);
  });
});

it('hanging up is not cancelling: the agent goes on and the result is there', async () => {
  const talk = spokenBy();
  agent.behave(talk.behaviour);
  const stream = await invoke();
  const { requestId } = (await stream.next())?.data ?? {};
  const said = await talk.next();
  await stream.hangUp();
  said.say(chunk('nobody hears'));
  said.say(result('kept'));
  expect(await untilEnded(h, client.key, requestId)).toMatchObject({ status: 'completed', result: 'kept' });
  expect(problemWithStream(await (await follow(requestId)).rest())).toBeNull();
});

it('streams end when their key is revoked, and the request goes on', async () => {
  const talk = spokenBy();
  agent.behave(talk.behaviour);
  const started = await invoke();
  const [created] = await started.take(2);
  const { requestId } = created?.data ?? {};
  const followed = await follow(requestId);
  await followed.take(2);
  const said = await talk.next();
  const { keyId } = (await h.request('GET', '/account/keys', { key: client.key })).body.data.keys[0];
  expect((await h.request('DELETE', `/account/keys/${keyId}`, { key: client.key })).status).toBe(200);
  expect(await started.next()).toBeNull();
  expect(await followed.next()).toBeNull();
  await expect(follow(requestId)).rejects.toThrow('401');
  said.say(result('done'));
  const isDone = async () =>
    (
      await askDatabase<{ status: string }>(h.databaseUrl, 'select status from invocation where id = $1', [requestId])
    )[0]?.status === 'completed' || null;
  await until(isDone);
});

it('a request that is cancelled ends every stream with invocation.cancelled', async () => {
  const talk = spokenBy();
  agent.behave(talk.behaviour);
  const stream = await invoke();
  const { requestId } = (await stream.next())?.data ?? {};
  const said = await talk.next();
  said.say(chunk('a'));
  await stream.take(2);
  expect((await h.request('POST', `/invoke/${requestId}/cancel`, { key: client.key })).status).toBe(200);
  await said.closed;
  const [end] = await stream.rest();
  expect(end).toMatchObject({ id: 4, type: 'invocation.cancelled', data: { status: 'cancelled', refund: '0.00' } });
  // It has shown a chunk.
  expect(await balanceOf(h, client.key)).toEqual({ available: '0.95', held: '0.00' });
});

it('the events that readers got while a request was cancelled never change, over 60 runs', async () => {
  agent.behave((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const timer = setInterval(() => response.write('event: chunk\ndata: x\n\n'), 0);
    response.once('close', () => clearInterval(timer));
  });
  // Each has shown chunks, and so is paid.
  client = await newClient(h, '3.00');
  for (let run = 0; run < 60; run++) {
    const stream = await invoke();
    const first = await stream.take(3 + (run % 5));
    const { requestId } = first[0]?.data ?? {};
    const [cancelled, rest] = await Promise.all([
      h.request('POST', `/invoke/${requestId}/cancel`, { key: client.key }),
      stream.rest(),
    ]);
    expect(cancelled.status).toBe(200);
    const heard = [...first, ...rest];
    expect(problemWithStream(heard)).toBeNull();
    expect(await (await follow(requestId)).rest()).toEqual(heard);
  }
  expect(await balanceOf(h, client.key)).toEqual({ available: '0.00', held: '0.00' });
});
