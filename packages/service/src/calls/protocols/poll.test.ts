import { expect, it } from 'vitest';
import { fixedClock } from '../../../test/support/fixed-clock.ts';
import { UpstreamFault } from '../../agents/health/upstream-client.ts';
import { GuardedFetchError } from '../../lib/net/guarded-fetch-error.ts';
import type { AgentCall, CallContext } from './adapter.ts';
import { patiently, pauseAfterMiss, untilAnswered } from './poll.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
/** Time left at which every pause lasts 21 ms: a second of it is kept for the last question. */
const SHORTLY_BEFORE_MS = 1021;
const ctx = { clock: fixedClock(NOW) } as unknown as CallContext;

const callLasting = (ms: number, signal: AbortSignal = new AbortController().signal) =>
  ({ invocation: { deadline: new Date(NOW + ms) }, signal }) as unknown as AgentCall;
const answerOf = (status: number, headers: Record<string, string> = {}) => ({ status, headers, body: Buffer.from('') });

/** Statuses that are answered one after the other, the last one for ever, and how often was asked. */
function answering(statuses: readonly number[]) {
  const asked: number[] = [];
  const ask = async () => {
    const status = statuses[Math.min(asked.length, statuses.length - 1)] ?? 500;
    asked.push(status);
    return answerOf(status);
  };
  return { asked, ask };
}

it('an upstream that is away is given up after seven questions, one that is asked too often is asked on', async () => {
  const away = answering([503]);
  expect((await patiently(ctx, callLasting(SHORTLY_BEFORE_MS), away.ask)).status).toBe(503);
  expect(away.asked).toHaveLength(7);
  const busy = answering([...Array<number>(20).fill(429), 200]);
  expect((await patiently(ctx, callLasting(SHORTLY_BEFORE_MS), busy.ask)).status).toBe(200);
  expect(busy.asked).toHaveLength(21);
});

it('the pause after a 429 is as long as it asks for, after other misses ten seconds at most', () => {
  const pauses = [0, 4000, 120_000].map((askedMs) => [
    pauseAfterMiss({ isTooOften: true, askedMs }, 500),
    pauseAfterMiss({ isTooOften: false, askedMs }, 500),
  ]);
  expect(pauses).toEqual([
    [500, 500],
    [4000, 4000],
    [120_000, 10_000],
  ]);
  expect(pauseAfterMiss({ isTooOften: true, askedMs: 2000 }, 8000)).toBe(8000);
});

it.each([
  ['has passed its deadline', 0, new AbortController().signal],
  ['is cancelled', 60_000, AbortSignal.abort()],
])('a call that %s does not repeat its question', async (_how, ms, signal) => {
  for (const status of [503, 429]) {
    const { asked, ask } = answering([status]);
    const outcome = { kind: 'failed', reason: 'deadline_exceeded' };
    await expect(patiently(ctx, callLasting(ms, signal), ask)).rejects.toMatchObject({ outcome });
    expect(asked).toHaveLength(1);
  }
});

it('a question that failed is repeated if the failure may pass', async () => {
  const unsure = new UpstreamFault('503', { isCertain: false });
  const busy = new UpstreamFault('429', { isCertain: false, detail: { kind: 'answer', status: 429, body: null } });
  const failing = (errors: readonly Error[]) => {
    const left = [...errors];
    return async () => {
      const error = left.shift();
      if (error) throw error;
      return 'answered';
    };
  };
  const kinds = ['connect', 'dns', 'timeout', 'reset'] as const;
  const passing = [unsure, ...kinds.map((kind) => new GuardedFetchError(kind))];
  const call = callLasting(SHORTLY_BEFORE_MS);
  expect(await untilAnswered(ctx, call, failing(passing))).toBe('answered');
  expect(await untilAnswered(ctx, call, failing(Array<Error>(20).fill(busy)))).toBe('answered');
  await expect(untilAnswered(ctx, call, failing(Array<Error>(7).fill(unsure)))).rejects.toBe(unsure);
  for (const lasting of [new UpstreamFault('404'), new GuardedFetchError('too_large'), new TypeError('ours')])
    await expect(untilAnswered(ctx, call, failing([lasting]))).rejects.toBe(lasting);
});
