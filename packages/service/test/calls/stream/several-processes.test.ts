import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { askDatabase } from '../../support/books.ts';
import type { Harness } from '../../support/harness.ts';
import { startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { balanceOf, newClient, untilEnded } from '../../support/treasury.ts';
import { until } from '../../support/until.ts';
import { startWatch } from '../../support/watch.ts';
import { joinNode, startJoinableHarness, startMortalNode } from './support/second-node.ts';
import { type Finish, openSse, problemWithStream } from './support/sse-client.ts';
import { chunk, result, spokenBy } from './support/streaming-agent.ts';

let h: Harness;
const agents: TestAgent[] = [];
beforeAll(async () => {
  h = await startJoinableHarness();
});
afterAll(async () => {
  await Promise.all(agents.map((agent) => agent.die()));
  await h.stop();
});

const body = { task: 'x', stream: true };

/** An agent that the test speaks as, and a client of it who can pay for one call. */
async function newTalk(finish: Finish = onTestFinished) {
  const talk = spokenBy();
  const agent = await startTestAgent(h, { perRequest: '0.05', behaviour: talk.behaviour });
  agents.push(agent);
  const { key } = await newClient(h, '0.05');
  return {
    key,
    next: talk.next,
    invokeAt: (host: { baseUrl: string }) => openSse(host, 'POST', `/invoke/${agent.id}`, { key, body, finish }),
    followAt: (host: { baseUrl: string }, requestId: string, after = 0) =>
      openSse(host, 'GET', `/invoke/${requestId}/events?after=${after}`, { key, finish }),
  };
}

/** One after another: any process of the node takes over what another hands over, also one that a test ends. */
describe('several processes of a node', () => {
  it('a stream is read at another process of the node as at the one that runs it', async ({
    expect,
    onTestFinished,
  }) => {
    const other = await joinNode(h, {}, { finish: onTestFinished });
    const { key, invokeAt, followAt, ...talk } = await newTalk(onTestFinished);
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

  it('a process that stops hands its request over: the agent is called again under the same key, readers resume', async ({
    expect,
    onTestFinished,
  }) => {
    const other = await joinNode(h, {}, { finish: onTestFinished });
    const { key, invokeAt, followAt, ...talk } = await newTalk(onTestFinished);
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

  it('a process is killed in mid-stream: the agent says everything again, and no reader misses or hears anything twice', async ({
    expect,
    onTestFinished,
  }) => {
    const mortal = await startMortalNode(h, {}, onTestFinished);
    const { key, invokeAt, followAt, ...talk } = await newTalk(onTestFinished);
    const stream = await invokeAt(mortal);
    const { requestId } = (await stream.next())?.data ?? {};
    const first = await talk.next();
    const texts = Array.from({ length: 30 }, (_, index) => chunk({ index, zero: -0 }));
    for (const each of texts.slice(0, 20)) first.say(each);
    const heard = [{ id: 1 }, ...(await stream.take(12))];
    await mortal.kill();
    await expect(stream.rest()).rejects.toThrow();
    const again = await talk.next();
    for (const each of texts) again.say(each);
    again.say(result('end'));
    const rest = await (await followAt(h, requestId, heard.at(-1)?.id)).rest();
    expect([...heard, ...rest].map(({ id }) => id)).toEqual(Array.from({ length: 33 }, (_, index) => index + 1));
    const whole = await (await followAt(h, requestId)).rest();
    expect(problemWithStream(whole)).toBeNull();
    expect(whole.slice(2, -1).map(({ data }) => data.index)).toEqual(texts.map((_, index) => index));
    expect(whole.slice(13)).toEqual(rest);
    expect(await untilEnded(h, key, requestId)).toMatchObject({ status: 'completed', cost: '0.05' });
  });

  it('an agent that says something else the second time is heard from where it differs, under new ids', async ({
    expect,
    onTestFinished,
  }) => {
    const mortal = await startMortalNode(h, {}, onTestFinished);
    const { key, invokeAt, followAt, ...talk } = await newTalk(onTestFinished);
    const stream = await invokeAt(mortal);
    const { requestId } = (await stream.next())?.data ?? {};
    const first = await talk.next();
    for (const text of ['a', 'b', 'c']) first.say(chunk(text));
    await stream.take(4);
    await mortal.kill();
    const again = await talk.next();
    for (const text of ['a', 'x', 'c']) again.say(chunk(text));
    again.say(result('end'));
    await untilEnded(h, key, requestId);
    const whole = await (await followAt(h, requestId)).rest();
    expect(problemWithStream(whole)).toBeNull();
    expect(whole.slice(2, -1).map(({ data }) => data.chunk)).toEqual(['a', 'b', 'c', 'x', 'c']);
  });
});

/** Alone: it asks how long it takes. */
it('a request that another process runs is cancelled: its agent is cut off at once, and the stream ends', async () => {
  const other = await joinNode(h);
  const { key, invokeAt, followAt, ...talk } = await newTalk();
  const stream = await invokeAt(other);
  const { requestId } = (await stream.next())?.data ?? {};
  const said = await talk.next();
  const tookMs = startWatch();
  const cancelled = await h.request('POST', `/invoke/${requestId}/cancel`, { key });
  expect(cancelled.body.data).toMatchObject({ cancelled: true, refund: '0.05' });
  await said.closed;
  expect((await stream.rest()).at(-1)).toMatchObject({ type: 'invocation.cancelled' });
  expect(tookMs()).toBeLessThan(2000);
  expect(await balanceOf(h, key)).toEqual({ available: '0.05', held: '0.00' });
});

describe('when the connections that listen break in mid-stream', () => {
  const listeners = `from pg_stat_activity where datname = current_database() and application_name = 'agent-network listen'`;
  /** Breaks the listening connection of every process; answers how many there were. */
  const breakListeners = async () =>
    (await askDatabase(h.databaseUrl, `select pg_terminate_backend(pid) ${listeners}`)).length;
  const untilListening = (count: number) =>
    until(async () => {
      const [row] = await askDatabase<{ count: number }>(h.databaseUrl, `select count(*)::int as count ${listeners}`);
      return row?.count === count;
    });

  it('readers here and elsewhere lose nothing and hear nothing twice when the connections that listen break in mid-stream', async () => {
    const other = await joinNode(h);
    const { key, invokeAt, followAt, ...talk } = await newTalk();
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

  it('a cancellation missed while disconnected aborts the call after the reconnect, and ends every stream', async () => {
    const other = await joinNode(h);
    const { key, invokeAt, followAt, ...talk } = await newTalk();
    const stream = await invokeAt(other);
    const { requestId } = (await stream.next())?.data ?? {};
    const said = await talk.next();
    said.say(chunk('a'));
    await stream.take(2);
    expect(await untilListening(2)).toBe(true);
    expect(await breakListeners()).toBe(2);
    const cancelled = await h.request('POST', `/invoke/${requestId}/cancel`, { key });
    expect(cancelled.body.data).toMatchObject({ cancelled: true, refund: '0.00' });
    await said.closed;
    expect((await stream.rest()).map(({ id, type }) => [id, type])).toEqual([[4, 'invocation.cancelled']]);
    expect(await untilListening(2)).toBe(true);
    expect(await balanceOf(h, key)).toEqual({ available: '0.00', held: '0.00' });
  });
});
