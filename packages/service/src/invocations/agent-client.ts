import { setTimeout as sleep } from 'node:timers/promises';
import { formatUsdc } from '@agent-network/contracts/money';
import { signAgentCall } from '../identity/agent-signature.ts';
import { GuardedFetchError } from '../lib/guarded-fetch-error.ts';
import { type Answered, failed, MAX_RESULT_BYTES, readAnswer } from './agent-answer.ts';
import type { AgentCall, CallContext } from './agent-call.ts';
import { readFailure } from './agent-failure.ts';
import { followAccepted } from './agent-poll.ts';
import { followStream } from './agent-stream.ts';
import type { Invocation, Outcome } from './invocation.ts';
import { createChunkRecorder } from './record-chunks.ts';

/** Pauses before the second and third try. Repeats carry the same Idempotency-Key. */
const RETRY_PAUSES_MS = [200, 1000] as const;
/** All that a stream may bring, framing included. */
const MAX_STREAM_BYTES = 16 * 1024 * 1024;

/**
 * Calls the agent until it answers, for at most three tries and until the deadline (DESIGN section 5, "Agent contract"). Never
 * throws for what the agent or the network does: every way in which it can end is an outcome.
 */
export async function callAgent(ctx: CallContext, call: AgentCall): Promise<Outcome> {
  const body = JSON.stringify(toAgentBody(call.invocation));
  for (let tries = 0; ; tries++) {
    const leftMs = call.invocation.deadline.getTime() - ctx.clock.now().getTime();
    if (leftMs <= 0) return failed('deadline_exceeded', 'The deadline passed before the agent answered.');
    const answered = await tryOnce(ctx, call, body, leftMs);
    if (answered.kind === 'accepted') return followAccepted(ctx, call, answered);
    const pauseMs = RETRY_PAUSES_MS[tries];
    if (!answered.isRetryable || pauseMs === undefined || pauseMs >= leftMs || call.signal.aborted)
      return answered.outcome;
    await sleep(pauseMs, undefined, { signal: call.signal }).catch(() => undefined);
  }
}

const toAgentBody = (invocation: Invocation) => ({
  request_id: invocation.id,
  agent_id: invocation.agentId,
  task: invocation.task,
  input: invocation.input,
  context: invocation.context,
  priority: invocation.priority,
  deadline: invocation.deadline.toISOString(),
  max_spend: formatUsdc(invocation.priceMicro),
  metadata: invocation.metadata,
  stream: invocation.isStreamed,
});

async function tryOnce(ctx: CallContext, call: AgentCall, body: string, leftMs: number): Promise<Answered> {
  const { invocation, target, signal } = call;
  const request = {
    url: target.endpoint,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: invocation.isStreamed ? 'text/event-stream, application/json' : 'application/json',
      'idempotency-key': invocation.id,
      'x-request-id': invocation.id,
      'x-deadline': invocation.deadline.toISOString(),
      ...signAgentCall(target.identityToken, invocation.id, body, ctx.clock.now()),
    },
    body,
    timeoutMs: leftMs,
    signal,
  };
  try {
    if (!invocation.isStreamed)
      return readAnswer(await ctx.guardedFetch.request({ ...request, maxBytes: MAX_RESULT_BYTES }));
    const answer = await ctx.guardedFetch.stream({ ...request, maxBytes: MAX_STREAM_BYTES, idleTimeoutMs: leftMs });
    const type = String(answer.headers['content-type'] ?? '').toLowerCase();
    if (answer.status !== 200 || !type.startsWith('text/event-stream'))
      return readAnswer({ status: answer.status, body: await readAll(answer.body) });
    const outcome = await followStream(answer.body, await createChunkRecorder(ctx, invocation));
    return { kind: 'ended', outcome, isRetryable: false };
  } catch (error) {
    if (error instanceof GuardedFetchError) return readFailure(error);
    throw error;
  }
}

async function readAll(bytes: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of bytes) {
    length += part.byteLength;
    if (length > MAX_RESULT_BYTES) throw new GuardedFetchError('too_large');
    parts.push(part);
  }
  return Buffer.concat(parts);
}
