import { setTimeout as sleep } from 'node:timers/promises';
import { GuardedFetchError } from '../../../lib/net/guarded-fetch-error.ts';
import { retryAfterMs } from '../../../lib/net/retry-after.ts';
import type { Outcome } from '../../invocation.ts';
import { isStopping } from '../../places/stopping.ts';
import { type AgentAnswer, failed, MAX_RESULT_BYTES, readProgress } from '../agent-answer.ts';
import type { AgentCall, CallContext } from '../agent-call.ts';
import { readFailure } from '../agent-failure.ts';
import { MISSES_UNTIL_GIVEN_UP, pauseInTime } from '../poll.ts';

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
  let pauseMs = pauseAfter(accepted, null, 0);
  for (let misses = 0; ; ) {
    await sleep(pauseInTime(pauseMs, msLeft()), undefined, { signal }).catch(() => undefined);
    const isLast = invocation.deadline <= ctx.clock.now();
    if (signal.aborted || (isLast && !isPaid)) return giveUp();
    const { answered, askedMs } = await ask(ctx, url, call, isLast ? LAST_LOOK_MS : Math.min(ASK_TIMEOUT_MS, msLeft()));
    if (signal.aborted) continue;
    misses = answered.kind === 'ended' ? misses + 1 : 0;
    if (answered.kind === 'ended' && (!answered.isRetryable || misses >= MISSES_UNTIL_GIVEN_UP))
      return answered.outcome;
    if (isLast) return giveUp();
    pauseMs = pauseAfter(answered, askedMs, pauseMs);
  }
}

/** null: no address, or one of an origin other than the agent's proven endpoint. */
function statusUrlOf({ statusUrl }: Accepted, endpoint: string): string | null {
  const url = statusUrl === '' ? null : URL.parse(statusUrl, endpoint);
  return url?.origin === new URL(endpoint).origin ? url.href : null;
}

/** The pause that the agent asked for, or twice the previous one, within limits; after a missed poll the longer of them. */
function pauseAfter(answered: AgentAnswer, askedMs: number | null, beforeMs: number): number {
  const longerMs = beforeMs * 2;
  const saidMs = answered.kind === 'accepted' && answered.retryAfterS !== null ? answered.retryAfterS * 1000 : askedMs;
  const wishMs = answered.kind === 'ended' ? Math.max(longerMs, saidMs ?? 0) : (saidMs ?? longerMs);
  return Math.min(MAX_PAUSE_MS, Math.max(FIRST_PAUSE_MS, wishMs));
}

interface PollAnswer {
  readonly answered: AgentAnswer;
  /** What the header `Retry-After` asks for. */
  readonly askedMs: number | null;
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
    const answered = readProgress(answer);
    const isTooOften = answered.kind === 'ended' && answer.status === 429;
    return {
      answered: isTooOften ? { ...answered, isRetryable: true } : answered,
      askedMs: retryAfterMs(answer.headers['retry-after'], ctx.clock.now()),
    };
  } catch (error) {
    if (!(error instanceof GuardedFetchError)) throw error;
    const failure = readFailure(error);
    const isPassing = error.kind === 'timeout' || error.kind === 'reset';
    const isMiss = failure.kind === 'ended' && isPassing;
    return { answered: isMiss ? { ...failure, isRetryable: true } : failure, askedMs: null };
  }
}

async function tellCancelled(ctx: CallContext, url: string, { target, invocation }: AgentCall): Promise<void> {
  const headers = { ...target.headers, 'x-request-id': invocation.id };
  const request = { url, method: 'DELETE', headers, timeoutMs: 2000, maxBytes: 4096 };
  await ctx.guardedFetch.request(request).catch(() => undefined);
}
