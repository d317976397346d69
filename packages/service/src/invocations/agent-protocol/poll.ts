import { setTimeout as sleep } from 'node:timers/promises';
import { headersTo } from '../../agents/upstream/upstream.ts';
import { GuardedFetchError, type GuardedResponse } from '../../lib/net/guarded-fetch.ts';
import { retryAfterMs } from '../../lib/net/retry-after.ts';
import { msLeft } from './adapter.ts';
import { MAX_RESULT_BYTES } from './agent-answer.ts';
import type { AgentCall, CallContext } from './agent-call.ts';

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 10_000;
const ASK_TIMEOUT_MS = 10_000;
/** Consecutive failed questions after which the upstream is given up: with growing pauses, time enough for a restart. */
export const MISSES_UNTIL_GIVEN_UP = 7;
const FIRST_MISS_PAUSE_MS = 500;
/** Time before the deadline at which is asked once more. */
const LAST_QUESTION_MS = 1000;

/** The pause before the next question. One that would last until the deadline leaves time for it: what is done by then would be lost. */
export const pauseInTime = (pauseMs: number, leftMs: number): number =>
  Math.min(pauseMs, leftMs > LAST_QUESTION_MS ? leftMs - LAST_QUESTION_MS : leftMs);

/** Pauses between questions, growing; ends when the call has become pointless. */
export function* pollPauses(ctx: CallContext, call: AgentCall): Generator<number> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2)) {
    if (call.signal.aborted || call.invocation.deadline <= ctx.clock.now()) return;
    yield pauseInTime(pauseMs, msLeft(ctx, call));
  }
}

/**
 * Asks a question that changes nothing, again for some 25 s while the upstream is away or asked too often: the work that it has taken goes on.
 * A pause is as long as the upstream asks for, within limits.
 */
export async function patiently(
  ctx: CallContext,
  call: AgentCall,
  ask: (timeoutMs: number) => Promise<GuardedResponse>,
): Promise<GuardedResponse> {
  for (let misses = 1; ; misses++) {
    let askedMs = 0;
    try {
      const answer = await ask(Math.min(ASK_TIMEOUT_MS, msLeft(ctx, call)));
      const isMiss = answer.status >= 500 || answer.status === 429;
      if (!isMiss || misses >= MISSES_UNTIL_GIVEN_UP) return answer;
      askedMs = retryAfterMs(answer.headers['retry-after'], ctx.clock.now()) ?? 0;
    } catch (error) {
      const isPassing =
        error instanceof GuardedFetchError && (error.isRetryable || error.kind === 'timeout' || error.kind === 'reset');
      if (!isPassing || misses >= MISSES_UNTIL_GIVEN_UP || call.signal.aborted) throw error;
    }
    const pauseMs = Math.min(MAX_PAUSE_MS, Math.max(askedMs, FIRST_MISS_PAUSE_MS * 2 ** (misses - 1)));
    await sleep(pauseInTime(pauseMs, msLeft(ctx, call)), undefined, { signal: call.signal }).catch(() => undefined);
  }
}

export const getPatiently = (ctx: CallContext, call: AgentCall, url: string): Promise<GuardedResponse> =>
  patiently(ctx, call, (timeoutMs) =>
    ctx.guardedFetch.request({
      url,
      method: 'GET',
      headers: { ...headersTo(call.target, url), accept: 'application/json', 'x-request-id': call.invocation.id },
      timeoutMs,
      maxBytes: MAX_RESULT_BYTES,
      signal: call.signal,
    }),
  );
