import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { until } from '../../../src/lib/until.ts';
import { askDatabase } from '../../support/books.ts';
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
const followAt = (host: { baseUrl: string }, requestId: string) =>
  openSse(host, 'GET', `/invoke/${requestId}/events`, { key: client.key });

const listeners = `from pg_stat_activity where datname = current_database() and application_name = 'agent-network listen'`;
/** Breaks the listening connection of every process; answers how many there were. */
const breakListeners = async () =>
  (await askDatabase(h.databaseUrl, `select pg_terminate_backend(pid) ${listeners}`)).length;
const untilListening = (count: number) =>
  until(
    async () => {
      const [row] = await askDatabase<{ count: number }>(h.databaseUrl, `select count(*)::int as count ${listeners}`);
      return row?.count === count ? true : null;
    },
    { timeoutMs: 10_000, firstMs: 10, mostMs: 100 },
  );

it('readers here and elsewhere lose nothing and hear nothing twice when the connections that listen break in mid-stream', async () => {
  const other = await joinNode(h);
  const talk = spokenBy();
  agent.behave(talk.behaviour);
  const here = await invokeAt(other);
  const { requestId } = (await here.next())?.data ?? {};
  const said = await talk.next();
  const there = await followAt(h, requestId);
  const texts = Array.from({ length: 30 }, (_, index) => `text ${index}`);
  const heard = [];
  for (const [index, text] of texts.entries()) {
    if (index === 5 || index === 20) {
      expect(await untilListening(2)).toBe(true);
      expect(await breakListeners()).toBe(2);
    }
    said.say(chunk(text));
    if (index === 12) heard.push(...(await there.take(10)));
  }
  said.say(result('end'));
  heard.push(...(await there.rest()));
  expect(problemWithStream(heard)).toBeNull();
  expect(heard.slice(2, -1).map(({ data }) => data.chunk)).toEqual(texts);
  expect(await here.rest()).toEqual(heard.slice(1));
});

it('a cancellation that nobody could hear of breaks the call off once the connection is back, and ends every stream', async () => {
  const other = await joinNode(h);
  const talk = spokenBy();
  agent.behave(talk.behaviour);
  const stream = await invokeAt(other);
  const { requestId } = (await stream.next())?.data ?? {};
  const said = await talk.next();
  said.say(chunk('a'));
  await stream.take(2);
  expect(await untilListening(2)).toBe(true);
  expect(await breakListeners()).toBe(2);
  const cancelled = await h.request('POST', `/invoke/${requestId}/cancel`, { key: client.key });
  expect(cancelled.body.data).toMatchObject({ cancelled: true, refund: '0.05' });
  await said.closed;
  expect((await stream.rest()).map(({ id, type }) => [id, type])).toEqual([[4, 'invocation.cancelled']]);
  expect(await untilListening(2)).toBe(true);
  expect(await balanceOf(h, client.key)).toEqual({ available: '0.05', held: '0.00' });
});
