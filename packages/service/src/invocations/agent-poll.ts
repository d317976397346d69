import { setTimeout as sleep } from 'node:timers/promises';
import { GuardedFetchError } from '../lib/guarded-fetch-error.ts';
import { type Answered, failed, MAX_RESULT_BYTES, readProgress } from './agent-answer.ts';
import type { AgentCall, CallContext } from './agent-client.ts';
import { readFailure } from './agent-failure.ts';
import type { Outcome } from './invocation.ts';
import { isStopping } from './stopping.ts';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;
const ASK_TIMEOUT_MS = 10_000;
/** An agent that can't be asked this often in a row is given up. */
const MISSES_UNTIL_GIVEN_UP = 5;

/**
 * Asks an agent that answered 202 until it has its result or the deadline passes. When the call becomes pointless, the agent is
 * told with a DELETE, once and without waiting for what it says.
 */
export async function followAccepted(
  ctx: CallContext,
  call: AgentCall,
  accepted: Extract<Answered, { kind: 'accepted' }>,
): Promise<Outcome> {
  const { invocation, target, signal } = call;
  const statusUrl = URL.parse(accepted.statusUrl, target.endpoint);
  if (!statusUrl || accepted.statusUrl === '' || statusUrl.origin !== new URL(target.endpoint).origin)
    return failed('invalid_response', 'The agent accepted the call without a status_url on its own origin.');
  let pauseMs = accepted.retryAfterS === null ? FIRST_PAUSE_MS : accepted.retryAfterS * 1000;
  const msLeft = () => Math.max(1, invocation.deadline.getTime() - ctx.clock.now().getTime());
  for (let misses = 0; ; ) {
    await sleep(Math.max(1, Math.min(pauseMs, LONGEST_PAUSE_MS, msLeft())), undefined, { signal }).catch(() => undefined);
    if (signal.aborted || invocation.deadline <= ctx.clock.now()) {
      if (!isStopping(signal)) void tellCancelled(ctx, statusUrl.href, invocation.id);
      return failed('deadline_exceeded', 'The deadline passed before the agent had its result.');
    }
    const answered = await ask(ctx, statusUrl.href, call, Math.min(ASK_TIMEOUT_MS, msLeft()));
    if (signal.aborted) continue;
    if (answered.kind === 'ended') {
      misses = answered.isRetryable ? misses + 1 : MISSES_UNTIL_GIVEN_UP;
      if (misses >= MISSES_UNTIL_GIVEN_UP) return answered.outcome;
    } else misses = 0;
    const wish =
      answered.kind === 'accepted' && answered.retryAfterS !== null ? answered.retryAfterS * 1000 : pauseMs * 2;
    pauseMs = Math.max(FIRST_PAUSE_MS, wish);
  }
}

async function ask(
  ctx: CallContext,
  url: string,
  { invocation, signal }: AgentCall,
  timeoutMs: number,
): Promise<Answered> {
  try {
    const answer = await ctx.guardedFetch.request({
      url,
      method: 'GET',
      headers: { accept: 'application/json', 'x-request-id': invocation.id },
      timeoutMs,
      maxBytes: MAX_RESULT_BYTES,
      signal,
    });
    return readProgress(answer);
  } catch (error) {
    if (!(error instanceof GuardedFetchError)) throw error;
    const failure = readFailure(error);
    const isPassing = error.kind === 'timeout' || error.kind === 'reset';
    return failure.kind === 'ended' ? { ...failure, isRetryable: failure.isRetryable || isPassing } : failure;
  }
}

async function tellCancelled(ctx: CallContext, url: string, requestId: string): Promise<void> {
  const request = { url, method: 'DELETE', headers: { 'x-request-id': requestId }, timeoutMs: 2000, maxBytes: 4096 };
  await ctx.guardedFetch.request(request).catch(() => undefined);
}
