import { setTimeout as sleep } from 'node:timers/promises';
import { formatUsdc } from '@agent-network/contracts/money';
import { signAgentCall } from '../../../identity/agent-signature.ts';
import type { GuardedResponse } from '../../../lib/net/guarded-fetch.ts';
import { GuardedFetchError } from '../../../lib/net/guarded-fetch-error.ts';
import { failpoint } from '../../../lib/process/failpoint.ts';
import { isCollected } from '../../../payments/bills/watch-bills.ts';
import type { PaymentProof } from '../../../payments/x402/payment-proof.ts';
import type { Invocation, Outcome } from '../../invocation.ts';
import { createChunkRecorder, MAX_STREAM_BYTES } from '../../stream/record-chunks.ts';
import { type AgentAnswer, failed, MAX_RESULT_BYTES, readAnswer } from '../agent-answer.ts';
import type { AgentCall, CallContext } from '../agent-call.ts';
import { readFailure } from '../agent-failure.ts';
import { readAll } from '../exchange.ts';
import { BILLED_PAUSES_MS, billedAgain, payAgentBill, proofSigned } from '../pay-agent-bill.ts';
import { followAccepted, LAST_LOOK_MS } from './http-poll.ts';
import { followStream } from './http-stream.ts';

/** Pauses before the second and third attempt. Retries carry the same Idempotency-Key. */
const RETRY_PAUSES_MS: readonly number[] = [200, 1000];
/**
 * Calls the agent until it answers, at most three times and until the deadline (docs/design.md, section 4, "agent contract: call"). An
 * agent that answers 402 is paid once and called again with the payment; every later call shows the same payment bytes. One that has
 * collected it is called after the deadline too, for seconds: the payer can lose nothing by that. Never throws for a fault of the agent or the
 * network: every end is an outcome.
 */
export async function callHttp(ctx: CallContext, call: AgentCall): Promise<Outcome> {
  const body = JSON.stringify(toAgentBody(call.invocation));
  let proof = await proofSigned(ctx, call.invocation);
  for (let tries = 0; ; ) {
    const leftMs = await msForCall(ctx, call, proof);
    if (leftMs === null) return failed('deadline_exceeded', 'The deadline passed before the agent answered.');
    failpoint('before-agent-call');
    const answered = await tryOnce(ctx, call, {
      body,
      proof,
      leftMs,
      isRepetition: tries > 0 || call.invocation.attempt > 1,
    });
    failpoint('after-agent-call');
    if (answered.kind === 'accepted') return followAccepted(ctx, call, answered, proof !== null);
    if (answered.kind === 'billed' && proof === null && !call.signal.aborted) {
      const paid = await payAgentBill(ctx, call, answered);
      if ('kind' in paid) return paid;
      proof = paid;
      continue;
    }
    const { outcome, isRetryable } =
      answered.kind === 'billed' ? { outcome: billedAgain, isRetryable: true } : answered;
    const pausesMs = answered.kind === 'billed' ? BILLED_PAUSES_MS : RETRY_PAUSES_MS;
    const pauseMs = pausesMs[tries++];
    if (!isRetryable || pauseMs === undefined || pauseMs >= leftMs || call.signal.aborted) return outcome;
    await sleep(pauseMs, undefined, { signal: call.signal }).catch(() => undefined);
  }
}

/** The time for a call; null: it is too late, unless the agent has the money already. */
async function msForCall(
  ctx: CallContext,
  { invocation }: AgentCall,
  proof: PaymentProof | null,
): Promise<number | null> {
  const leftMs = invocation.deadline.getTime() - ctx.clock.now().getTime();
  if (leftMs > 0) return leftMs;
  return proof !== null && (await isCollected(ctx, invocation.id)) ? LAST_LOOK_MS : null;
}

const toAgentBody = (invocation: Invocation) => ({
  request_id: invocation.id,
  agent_id: invocation.agentId,
  task: invocation.task,
  input: invocation.input,
  ...(invocation.capability === null ? {} : { capability: invocation.capability }),
  context: invocation.context,
  priority: invocation.priority,
  deadline: invocation.deadline.toISOString(),
  max_spend: formatUsdc(invocation.priceMicro),
  metadata: invocation.metadata,
  stream: invocation.isStreamed,
});

interface Try {
  readonly body: string;
  readonly proof: PaymentProof | null;
  readonly leftMs: number;
  /** The agent may have streamed chunks of this request before. */
  readonly isRepetition: boolean;
}

async function tryOnce(
  ctx: CallContext,
  call: AgentCall,
  { body, proof, leftMs, isRepetition }: Try,
): Promise<AgentAnswer | BilledAnswer> {
  const { invocation, target, signal } = call;
  const request = {
    url: target.endpoint,
    method: 'POST',
    headers: {
      ...target.headers,
      'content-type': 'application/json',
      accept: invocation.isStreamed ? 'text/event-stream, application/json' : 'application/json',
      'idempotency-key': invocation.id,
      'x-request-id': invocation.id,
      'x-deadline': invocation.deadline.toISOString(),
      ...(proof === null ? {} : { [proof.headerName]: proof.headerValue }),
      ...signAgentCall(target.identityToken, invocation.id, body, ctx.clock.now()),
    },
    body,
    timeoutMs: leftMs,
    signal,
  };
  try {
    if (!invocation.isStreamed)
      return readCallAnswer(await ctx.guardedFetch.request({ ...request, maxBytes: MAX_RESULT_BYTES }));
    const recorder = await createChunkRecorder(ctx, call, isRepetition);
    const answer = await ctx.guardedFetch.stream({ ...request, maxBytes: MAX_STREAM_BYTES, idleTimeoutMs: leftMs });
    const type = String(answer.headers['content-type'] ?? '').toLowerCase();
    if (answer.status !== 200 || !type.startsWith('text/event-stream'))
      return readCallAnswer({ ...answer, body: await readAll(answer.body) });
    const outcome = await followStream(answer.body, recorder);
    return { kind: 'ended', outcome, isRetryable: false };
  } catch (error) {
    if (!(error instanceof GuardedFetchError)) throw error;
    const failure = readFailure(error);
    // The agent may have been paid: fetch its result again, under the same key and payment.
    const isWorthIt = proof !== null && error.kind === 'reset' && failure.kind === 'ended';
    return isWorthIt ? { ...failure, isRetryable: true } : failure;
  }
}

type BilledAnswer = GuardedResponse & { readonly kind: 'billed' };

const readCallAnswer = (answer: GuardedResponse): AgentAnswer | BilledAnswer =>
  answer.status === 402 ? { kind: 'billed', ...answer } : readAnswer(answer);
