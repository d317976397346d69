import { afterAll, beforeAll, expect, it } from 'vitest';
import { storedBytes } from '../../../src/calls/storage-store.ts';
import { beforeDeadline } from '../../support/deadline.ts';
import { type Harness, startHarness } from '../../support/harness.ts';
import { answerWith, startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { openSse, problemWithStream } from './support/sse-client.ts';
import { chunk, result, says } from './support/streaming-agent.ts';

const PER_MINUTE = 24 * 1024 * 1024;
const PER_MS = PER_MINUTE / 60_000;
const BURST = PER_MINUTE / 8;
const CHUNK = 60_000;
const CHUNKS = 30;
const CALLS = 5;
/** What each of an account's lines may exceed: a piece of a stream that was read at once. */
const PIECE = 2 * 64 * 1024;

let h: Harness;
let large: TestAgent;
let small: TestAgent;
beforeAll(async () => {
  h = await startHarness({ env: { STORED_BYTES_PER_MINUTE: String(PER_MINUTE) } });
  large = await startTestAgent(h, { perRequest: '0' });
  small = await startTestAgent(h, { perRequest: '0' });
});
afterAll(async () => {
  await large.die();
  await small.die();
  await h.stop();
});

const stream = (key: string, agent: TestAgent) =>
  openSse(h, 'POST', `/invoke/${agent.id}`, { key, body: { task: 'x', stream: true } });
const call = (key: string, agent: TestAgent) =>
  h.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'x' }, headers: { 'x-sync': 'true' } });
const storedOf = async (accountId: string) => Number(await storedBytes(h.ctx.db, accountId));

/**
 * Has something be done while large results are stored, for which they need some seconds by the rate. On a machine that is busy with something
 * else it may take longer than that: then it is done beside three times as many.
 */
async function whileStored(count: number, begin: (count: number) => Promise<'in time' | 'too late'>): Promise<void> {
  if ((await begin(count)) === 'too late') expect(await begin(3 * count)).toBe('in time');
}

it("an account's streams together are stored at its rate, complete and in order, without delaying other accounts", () =>
  whileStored(CHUNKS, async (chunks) => {
    const thief = await h.newAccount();
    const other = await h.newAccount();
    large.behave(says(...Array.from({ length: chunks }, () => chunk('x'.repeat(CHUNK))), result('end')));
    const startMs = performance.now();
    let isOver = false;
    const streams = [await stream(thief.key, large), await stream(thief.key, large)].map((each) => each.rest());
    const ended = Promise.all(streams).finally(() => {
      isOver = true;
    });
    await expect.poll(() => storedOf(thief.accountId), { interval: 5 }).toBeGreaterThan(BURST / 2);
    small.behave(says(chunk('a'), chunk('b'), result('c')));
    expect(problemWithStream(await (await stream(other.key, small)).rest())).toBeNull();
    small.behave(answerWith(200, { result: 'd' }));
    expect((await call(other.key, small)).body.data.result).toBe('d');
    const isInTime = !isOver;
    const mostNow = () => BURST + (performance.now() - startMs) * PER_MS + 2 * PIECE;
    await expect.poll(async () => [(await storedOf(thief.accountId)) > mostNow(), isOver]).not.toEqual([false, false]);
    expect(await storedOf(thief.accountId)).toBeLessThanOrEqual(mostNow());
    const told = await ended;
    expect(performance.now() - startMs).toBeGreaterThan((2 * chunks * CHUNK - BURST - 2 * PIECE) / PER_MS);
    expect(told.map(problemWithStream)).toEqual([null, null]);
    expect(told.map((events) => events.filter(({ type }) => type === 'invocation.chunk').length)).toEqual([
      chunks,
      chunks,
    ]);
    return isInTime ? 'in time' : 'too late';
  }));

it('large results are stored at the same rate beside the small ones, which do not wait; each caller gets its own', () =>
  whileStored(CALLS, async (calls) => {
    const thief = await h.newAccount();
    const other = await h.newAccount();
    large.behave(answerWith(200, { result: 'y'.repeat(900_000) }));
    small.behave(answerWith(200, { result: 'd' }));
    const startMs = performance.now();
    let isOver = false;
    const ended = Promise.all(Array.from({ length: calls }, () => call(thief.key, large))).finally(() => {
      isOver = true;
    });
    await expect.poll(() => storedOf(thief.accountId), { interval: 5 }).toBeGreaterThan(BURST / 2);
    expect((await call(other.key, small)).body.data.result).toBe('d');
    expect((await call(thief.key, small)).body.data.result).toBe('d');
    const isInTime = !isOver;
    const answers = await ended;
    expect(answers.map(({ body }) => body.data.result.length)).toEqual(Array(calls).fill(900_000));
    expect(performance.now() - startMs).toBeGreaterThan((calls * 900_000 - BURST - 1_000_000) / PER_MS);
    return isInTime ? 'in time' : 'too late';
  }));

it('a large result is stored while its deadline has not passed, whatever the rate', async () => {
  const { key } = await h.newAccount();
  large.behave(answerWith(200, { result: 'y'.repeat(900_000) }));
  const statuses = await beforeDeadline(6000, async (deadline, leftMs) => {
    const body = { task: 'x', deadline };
    // At the rate, they would be stored after it.
    const calls = Array.from({ length: leftMs / 750 }, () =>
      h.request('POST', `/invoke/${large.id}`, { key, body, headers: { 'x-sync': 'true' } }),
    );
    const ended = (await Promise.all(calls)).map((answer) => answer.body.data?.status);
    return ended.every((status) => status === 'completed') ? ended : null;
  });
  expect(statuses.length).toBeGreaterThanOrEqual(8);
});
