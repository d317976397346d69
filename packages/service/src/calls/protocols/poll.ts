import { setTimeout as sleep } from 'node:timers/promises';
import { headersTo } from '../../agents/health/upstream.ts';
import { UpstreamFault } from '../../agents/health/upstream-client.ts';
import { retryAfterMs } from '../../lib/net/error-text.ts';
import { GuardedFetchError, type GuardedResponse } from '../../lib/net/guarded-fetch.ts';
import { type AgentCall, type CallContext, CallFailedError, msLeft } from './adapter.ts';

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 10_000;
const ASK_TIMEOUT_MS = 10_000;
/** Consecutive failed questions after which the upstream is given up: with growing pauses, time enough for a restart. */
export const MISSES_UNTIL_GIVEN_UP = 7;
const FIRST_MISS_PAUSE_MS = 500;
/** Time before the deadline of the last poll. */
const LAST_QUESTION_MS = 1000;
/** Timers may end this much too early: what is so little before the last poll is that poll. */
const TIMER_MS = 20;

/**
 * The pause before the next poll. A pause up to the deadline is shortened to leave time for a last poll, as a finished result would be lost
 * otherwise.
 */
export const pauseInTime = (pauseMs: number, leftMs: number): number =>
  Math.min(pauseMs, leftMs > LAST_QUESTION_MS + TIMER_MS ? leftMs - LAST_QUESTION_MS : leftMs);

/** True when an answer can't be used any more: the request was cancelled, this process stops, or the deadline has passed. */
export const isPointless = (ctx: CallContext, { invocation, signal }: AgentCall): boolean =>
  signal.aborted || invocation.deadline <= ctx.clock.now();

export const deadlinePassed = (): CallFailedError =>
  new CallFailedError('deadline_exceeded', 'The deadline passed before the agent had its result.');

/** Pauses between questions, growing; ends when the call has become pointless. */
export function* pollPauses(ctx: CallContext, call: AgentCall): Generator<number> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2)) {
    if (isPointless(ctx, call)) return;
    yield pauseInTime(pauseMs, msLeft(ctx, call));
  }
}

/** A question that was not answered as it may be later. */
export interface Miss {
  /** The answer was 429: the upstream is there, so polling continues until the deadline. */
  readonly isTooOften: boolean;
  /** Milliseconds from the header `Retry-After`; 0: none. */
  readonly askedMs: number;
}

/** The pause after a miss: a growing one, or the upstream's Retry-After if that is longer. Only that of a 429 has no limit. */
export const pauseAfterMiss = ({ isTooOften, askedMs }: Miss, growingMs: number): number =>
  isTooOften
    ? Math.max(askedMs, Math.min(MAX_PAUSE_MS, growingMs))
    : Math.min(MAX_PAUSE_MS, Math.max(askedMs, growingMs));

/**
 * Sends an idempotent query, retrying for about 25 s while the upstream is away, and until the deadline while it returns 429, as the
 * accepted work continues. `missIn`: reads an answer; null: it is good. Throws the last failure, or the passed deadline once the call is
 * pointless.
 */
export async function untilAnswered<T>(
  ctx: CallContext,
  call: AgentCall,
  ask: (timeoutMs: number) => Promise<T>,
  missIn: (answer: T) => Miss | null = () => null,
): Promise<T> {
  let misses = 0;
  for (let growingMs = FIRST_MISS_PAUSE_MS; ; growingMs = Math.min(MAX_PAUSE_MS, growingMs * 2)) {
    const { miss, end } = await ask(Math.min(ASK_TIMEOUT_MS, msLeft(ctx, call))).then(
      (answer) => ({ miss: missIn(answer), end: () => answer }),
      (error: unknown) => ({ miss: missOf(error), end: () => Promise.reject<T>(error) }),
    );
    misses = miss?.isTooOften ? 0 : misses + 1;
    if (!miss || misses >= MISSES_UNTIL_GIVEN_UP) return end();
    const pauseMs = pauseInTime(pauseAfterMiss(miss, growingMs), msLeft(ctx, call));
    await sleep(pauseMs, undefined, { signal: call.signal }).catch(() => undefined);
    if (isPointless(ctx, call)) throw deadlinePassed();
  }
}

/** The miss that an error is; null: asking again would not help. */
function missOf(error: unknown): Miss | null {
  if (error instanceof UpstreamFault)
    return error.isCertain ? null : { isTooOften: error.detail.status === 429, askedMs: 0 };
  const isPassing =
    error instanceof GuardedFetchError && (error.isRetryable || error.kind === 'timeout' || error.kind === 'reset');
  return isPassing ? { isTooOften: false, askedMs: 0 } : null;
}

/** Asks by HTTP, as `untilAnswered` does; 429 and statuses from 500 on are misses. */
export const patiently = (
  ctx: CallContext,
  call: AgentCall,
  ask: (timeoutMs: number) => Promise<GuardedResponse>,
): Promise<GuardedResponse> =>
  untilAnswered(ctx, call, ask, ({ status, headers }) => {
    const isTooOften = status === 429;
    if (!isTooOften && status < 500) return null;
    return { isTooOften, askedMs: retryAfterMs(headers['retry-after'], ctx.clock.now()) ?? 0 };
  });

export const getPatiently = (ctx: CallContext, call: AgentCall, url: string): Promise<GuardedResponse> =>
  patiently(ctx, call, (timeoutMs) =>
    call.media.request({
      url,
      method: 'GET',
      headers: { ...headersTo(call.target, url), accept: 'application/json', 'x-request-id': call.invocation.id },
      timeoutMs,
      signal: call.signal,
    }),
  );
