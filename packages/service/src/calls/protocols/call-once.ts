import { setTimeout as sleep } from 'node:timers/promises';
import { UpstreamFault } from '../../agents/health/upstream-client.ts';
import { GuardedFetchError } from '../../lib/net/guarded-fetch-error.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import type { AgentOutcome, Outcome } from '../invocation.ts';
import { type Adapter, type AgentCall, type CallContext, CallFailedError, msLeft, type Send } from './adapter.ts';
import { failed, readFailure } from './agent-answer.ts';
import { BILLED_PAUSES_MS, billedAgain, payAgentBill, proofSigned } from './pay-agent-bill.ts';
import { findUpstreamCall, markUpstreamCall } from './upstream-call-store.ts';

/** Pauses before retrying a request that has not reached the upstream. */
const UNSENT_PAUSES_MS: readonly number[] = [200, 1000];

/**
 * Calls an endpoint that may run a repeated request twice, once in each turn of the request. Stores the intent before sending, so that no
 * process sends again. A process that finds the intent resumes by the upstream's id for the work, if there is one; else it waits for the
 * deadline, as the outcome is unknown, and then the payer is refunded.
 */
export async function callOnce(ctx: CallContext, call: AgentCall, adapter: Adapter): Promise<AgentOutcome> {
  const { invocation } = call;
  try {
    const sent = await findUpstreamCall(ctx.db, invocation);
    const resumed = sent?.handle != null && adapter.resume ? await adapter.resume(ctx, call, sent.handle) : null;
    if (resumed !== null && resumed !== 'unsent') return resumed;
    if (sent && resumed === null) return await awaitDeadline(ctx, call);
    const send = await untilSent(ctx, call, () => adapter.prepare(ctx, call));
    return await markAndSend(ctx, call, send, sent !== null).finally(() => send.close?.());
  } catch (error) {
    return outcomeOf(error);
  }
}

async function markAndSend(ctx: CallContext, call: AgentCall, send: Send, isAgain: boolean): Promise<AgentOutcome> {
  // Not noted as sent: the next process sends it.
  if (call.signal.aborted) return abortedUnsent;
  const handle = call.answers.at(-1)?.handle ?? null;
  const isOurs = await markUpstreamCall(ctx.db, call.invocation, { now: ctx.clock.now(), handle, isAgain });
  if (!isOurs) return takenOver;
  failpoint('before-agent-call');
  const outcome = await sendAndPay(ctx, call, (proof) => untilSent(ctx, call, () => send(proof)));
  failpoint('after-agent-call');
  return outcome;
}

const abortedUnsent = failed('agent_error', 'The call was aborted before it was sent.');

const takenOver = failed('agent_error', 'Another process has taken the request over, or it has ended.');

function outcomeOf(error: unknown): Outcome {
  if (error instanceof CallFailedError) return error.outcome;
  // The fault itself is for the owner, who sees it after the check that this reason causes.
  if (error instanceof UpstreamFault)
    return failed('agent_unreachable', 'The agent cannot be called: its endpoint is not as it was registered.');
  if (!(error instanceof GuardedFetchError)) throw error;
  return readFailure(error).outcome;
}

/** Retries work that certainly did not reach the upstream. */
async function untilSent<T>(ctx: CallContext, call: AgentCall, work: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; ) {
    try {
      return await work();
    } catch (error) {
      const pauseMs = UNSENT_PAUSES_MS[tries++];
      const isUnsent = error instanceof GuardedFetchError && error.isRetryable;
      if (!isUnsent || pauseMs === undefined || pauseMs >= msLeft(ctx, call) || call.signal.aborted) throw error;
      await sleep(pauseMs, undefined, { signal: call.signal }).catch(() => undefined);
    }
  }
}

/**
 * A demand for payment is paid once, in whichever turn; the same payment is shown again while the upstream answers that it has not been
 * paid yet.
 */
async function sendAndPay(ctx: CallContext, call: AgentCall, send: Send): Promise<AgentOutcome> {
  const signed = await proofSigned(ctx, call.invocation);
  const answer = await send(signed);
  if (answer.kind !== 'billed') return answer;
  if (call.signal.aborted) return takenOver;
  const paid = signed ?? (await payAgentBill(ctx, call, answer));
  if ('kind' in paid) return paid;
  for (let tries = 0; ; ) {
    const outcome = await send(paid);
    if (outcome.kind !== 'billed') return outcome;
    const pauseMs = BILLED_PAUSES_MS[tries++];
    if (pauseMs === undefined || pauseMs >= msLeft(ctx, call) || call.signal.aborted) return billedAgain;
    await sleep(pauseMs, undefined, { signal: call.signal }).catch(() => undefined);
  }
}

async function awaitDeadline(ctx: CallContext, call: AgentCall): Promise<Outcome> {
  while (!call.signal.aborted && call.invocation.deadline > ctx.clock.now())
    await sleep(Math.min(1000, msLeft(ctx, call)), undefined, { signal: call.signal }).catch(() => undefined);
  return failed(
    'deadline_exceeded',
    'The process that called the agent ended before the answer came. The agent was not called again, as it could have done the work twice.',
  );
}
