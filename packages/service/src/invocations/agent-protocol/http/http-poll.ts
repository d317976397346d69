import { setTimeout as sleep } from 'node:timers/promises';
import { GuardedFetchError } from '../../../lib/net/guarded-fetch-error.ts';
import { retryAfterMs } from '../../../lib/net/retry-after.ts';
import type { Outcome } from '../../invocation.ts';
import { isStopping } from '../../places/stopping.ts';
import { type AgentAnswer, failed, MAX_RESULT_BYTES, readProgress } from '../agent-answer.ts';
import type { AgentCall, CallContext } from '../agent-call.ts';
import { readFailure } from '../agent-failure.ts';
import { MISSES_UNTIL_GIVEN_UP, type Miss, pauseAfterMiss, pauseInTime } from '../poll.ts';

const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 10_000;
const ASK_TIMEOUT_MS = 10_000;
/** Time of a call or poll at the deadline, of an agent that has been paid: it gives the answer that it has. */
export const LAST_LOOK_MS = 5000;

type Accepted = Extract<AgentAnswer, { kind: 'accepted' }>;

/**
 * Polls an agent that answered 202 until it has its result or the deadline passes, and then once more if it has been paid. When the
 * call becomes pointless, sends the agent one DELETE and ignores the answer.
 */
export async function followAccepted(
  ctx: CallContext,
  call: AgentCall,
  accepted: Accepted,
  isPaid: boolean,
): Promise<Outcome> {
  const { invocation, target, signal } = call;
  const url = statusUrlOf(accepted, target.endpoint);
  if (url === null)
    return failed('invalid_response', 'The agent accepted the call without a status_url on its own origin.');
  const msLeft = () => Math.max(1, invocation.deadline.getTime() - ctx.clock.now().getTime());
  const giveUp = () => {
    if (!isStopping(signal)) void tellCancelled(ctx, url, call);
    return failed('deadline_exceeded', 'The deadline passed before the agent had its result.');
  };
  let pauseMs = pauseAfter({ answered: accepted, isTooOften: false, askedMs: 0 }, 0);
  for (let misses = 0; ; ) {
    await sleep(pauseInTime(pauseMs, msLeft()), undefined, { signal }).catch(() => undefined);
    const isLast = invocation.deadline <= ctx.clock.now();
    if (signal.aborted || (isLast && !isPaid)) return giveUp();
    const polled = await ask(ctx, url, call, isLast ? LAST_LOOK_MS : Math.min(ASK_TIMEOUT_MS, msLeft()));
    if (signal.aborted) continue;
    misses = polled.answered.kind === 'ended' && !polled.isTooOften ? misses + 1 : 0;
    const end = endIn(polled, misses);
    if (end) return end;
    if (isLast) return giveUp();
    pauseMs = pauseAfter(polled, pauseMs);
  }
}

/** null: no address, or one of an origin other than the agent's proven endpoint. */
function statusUrlOf({ statusUrl }: Accepted, endpoint: string): string | null {
  const url = statusUrl === '' ? null : URL.parse(statusUrl, endpoint);
  return url?.origin === new URL(endpoint).origin ? url.href : null;
}

/** An answer to a poll, and in what way it is a miss if it ended nothing. */
interface PollAnswer extends Miss {
  readonly answered: AgentAnswer;
}

/** The end of the work, or of the patience with an agent that is away; null: it is asked again. */
function endIn({ answered, isTooOften }: PollAnswer, misses: number): Outcome | null {
  if (answered.kind !== 'ended' || isTooOften) return null;
  return answered.isRetryable && misses < MISSES_UNTIL_GIVEN_UP ? null : answered.outcome;
}

/** The pause that the agent asked for, or twice the previous one, within limits; after a missed poll the longer of them. */
function pauseAfter(polled: PollAnswer, beforeMs: number): number {
  const { answered, askedMs } = polled;
  const longerMs = Math.max(FIRST_PAUSE_MS, beforeMs * 2);
  if (answered.kind === 'ended') return pauseAfterMiss(polled, longerMs);
  const wishMs = answered.retryAfterS === null ? askedMs || longerMs : answered.retryAfterS * 1000;
  return Math.min(MAX_PAUSE_MS, Math.max(FIRST_PAUSE_MS, wishMs));
}

async function ask(
  ctx: CallContext,
  url: string,
  { target, invocation, signal }: AgentCall,
  timeoutMs: number,
): Promise<PollAnswer> {
  try {
    const answer = await ctx.guardedFetch.request({
      url,
      method: 'GET',
      headers: { ...target.headers, accept: 'application/json', 'x-request-id': invocation.id },
      timeoutMs,
      maxBytes: MAX_RESULT_BYTES,
      signal,
    });
    return {
      answered: readProgress(answer),
      isTooOften: answer.status === 429,
      askedMs: retryAfterMs(answer.headers['retry-after'], ctx.clock.now()) ?? 0,
    };
  } catch (error) {
    if (!(error instanceof GuardedFetchError)) throw error;
    const failure = readFailure(error);
    const isPassing = error.kind === 'timeout' || error.kind === 'reset';
    const isMiss = failure.kind === 'ended' && isPassing;
    return { answered: isMiss ? { ...failure, isRetryable: true } : failure, isTooOften: false, askedMs: 0 };
  }
}

async function tellCancelled(ctx: CallContext, url: string, { target, invocation }: AgentCall): Promise<void> {
  const headers = { ...target.headers, 'x-request-id': invocation.id };
  const request = { url, method: 'DELETE', headers, timeoutMs: 2000, maxBytes: 4096 };
  await ctx.guardedFetch.request(request).catch(() => undefined);
}
