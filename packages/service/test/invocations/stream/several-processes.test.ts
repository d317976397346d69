import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Harness } from '../../support/harness.ts';
import { startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { balanceOf, type Client, newClient } from '../../support/treasury.ts';
import { joinNode, startJoinableHarness } from './support/second-node.ts';
import { openSse, problemWithStream } from './support/sse-client.ts';
import { chunk, result, spokenBy } from './support/streaming-agent.ts';

let h: Harness;
let agent: TestAgent;
let client: Client;
beforeAll(async () => {
  h = await startJoinableHarness();
  agent = await startTestAgent(h, { perRequest: '0.05' });
});
beforeEach(async () => {
  client = await newClient(h, '0.05');
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

const body = { task: 'x', stream: true };
const invokeAt = (host: { baseUrl: string }) => openSse(host, 'POST', `/invoke/${agent.id}`, { key: client.key, body });
const followAt = (host: { baseUrl: string }, requestId: string, after = 0) =>
  openSse(host, 'GET', `/invoke/${requestId}/events?after=${after}`, { key: client.key });

it('a stream is read at another process of the node as at the one that runs it', async () => {
  const other = await joinNode(h);
  const talk = spokenBy();
  agent.behave(talk.behaviour);
  const here = await invokeAt(h);
  const { requestId } = (await here.next())?.data ?? {};
  const said = await talk.next();
  const there = await followAt(other, requestId);
  said.say(chunk('a'));
  const heard = await there.take(3);
  said.say(chunk('b'));
  said.say(result('c'));
  heard.push(...(await there.rest()));
  expect(problemWithStream(heard)).toBeNull();
  expect(await here.rest()).toEqual(heard.slice(1));
});

it('a request that another process runs is cancelled: its agent is cut off at once, and the stream ends', async () => {
  const other = await joinNode(h);
  const talk = spokenBy();
  agent.behave(talk.behaviour);
  const stream = await invokeAt(other);
  const { requestId } = (await stream.next())?.data ?? {};
  const said = await talk.next();
  const startMs = performance.now();
  const cancelled = await h.request('POST', `/invoke/${requestId}/cancel`, { key: client.key });
  expect(cancelled.body.data).toMatchObject({ cancelled: true, refund: '0.05' });
  await said.closed;
  expect((await stream.rest()).at(-1)).toMatchObject({ type: 'invocation.cancelled' });
  expect(performance.now() - startMs).toBeLessThan(2000);
  expect(await balanceOf(h, client.key)).toEqual({ available: '0.05', held: '0.00' });
});

it('a process that stops hands its request over: the agent is called again under the same key, readers resume', async () => {
  const other = await joinNode(h);
  const talk = spokenBy();
  agent.behave(talk.behaviour);
  const stream = await invokeAt(other);
  const { requestId } = (await stream.next())?.data ?? {};
  const first = await talk.next();
  first.say(chunk('a'));
  await stream.take(2);
  await Promise.all([other.stop(), first.closed]);
  const again = await talk.next();
  expect(again.request.headers['idempotency-key']).toBe(requestId);
  const resumed = await followAt(h, requestId, 3);
  again.say(chunk('a'));
  again.say(chunk('b'));
  again.say(result('c'));
  expect((await resumed.rest()).map(({ id, data }) => [id, data.chunk ?? data.status])).toEqual([
    [4, 'b'],
    [5, 'completed'],
  ]);
});
