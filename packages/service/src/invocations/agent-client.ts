import { setTimeout as sleep } from 'node:timers/promises';
import type { FailureReason } from '@agent-network/contracts/invocations';
import { formatUsdc, parseUsdc, usdcPattern } from '@agent-network/contracts/money';
import { signAgentCall } from '../identity/agent-signature.ts';
import type { HasClock } from '../lib/clock.ts';
import { GuardedFetchError, type HasGuardedFetch } from '../lib/guarded-fetch.ts';
import { isDeeperThan } from '../lib/json-depth.ts';
import type { Invocation, Outcome } from './invocation.ts';

/** An agent's answer may be as large as a caller's body. */
const MAX_RESULT_BYTES = 1024 * 1024;
/** Deep enough for a syntax tree; what is far deeper can be parsed, but neither written nor stored. */
const MAX_RESULT_DEPTH = 128;
/** Pauses before the second and third try. Repeats carry the same Idempotency-Key. */
const RETRY_PAUSES_MS = [200, 1000] as const;
const RETRIED_STATUSES = new Set([502, 503, 504]);
const MAX_MESSAGE = 500;

export interface CallTarget {
  readonly endpoint: string;
  readonly identityToken: string;
}

type Attempt = { readonly outcome: Outcome; readonly isRetryable: boolean };

const failed = (reason: FailureReason, message: string): Outcome => ({ kind: 'failed', reason, message });

/**
 * Calls the agent until it answers, for at most three tries and until the deadline (DESIGN section 5, "Agent contract"). Never
 * throws for what the agent or the network does: every way in which it can end is an outcome.
 */
export async function callAgent(
  ctx: HasGuardedFetch & HasClock,
  target: CallTarget,
  invocation: Invocation,
  signal: AbortSignal,
): Promise<Outcome> {
  const body = JSON.stringify(toAgentBody(invocation));
  for (let tries = 0; ; tries++) {
    const leftMs = invocation.deadline.getTime() - ctx.clock.now().getTime();
    if (leftMs <= 0) return failed('deadline_exceeded', 'The deadline passed before the agent answered.');
    const { outcome, isRetryable } = await tryOnce(ctx, target, invocation, { body, leftMs, signal });
    const pauseMs = RETRY_PAUSES_MS[tries];
    if (!isRetryable || pauseMs === undefined || pauseMs >= leftMs || signal.aborted) return outcome;
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
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
  stream: false,
});

async function tryOnce(
  ctx: HasGuardedFetch & HasClock,
  target: CallTarget,
  invocation: Invocation,
  call: { body: string; leftMs: number; signal: AbortSignal },
): Promise<Attempt> {
  try {
    const answer = await ctx.guardedFetch.request({
      url: target.endpoint,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        'idempotency-key': invocation.id,
        'x-request-id': invocation.id,
        'x-deadline': invocation.deadline.toISOString(),
        ...signAgentCall(target.identityToken, invocation.id, call.body, ctx.clock.now()),
      },
      body: call.body,
      timeoutMs: call.leftMs,
      maxBytes: MAX_RESULT_BYTES,
      signal: call.signal,
    });
    return readAnswer(answer);
  } catch (error) {
    if (error instanceof GuardedFetchError) return readFailure(error);
    throw error;
  }
}

/** What an answer of the agent means. */
export function readAnswer(answer: { status: number; body: Buffer }): Attempt {
  const value = parse(answer.body);
  if (answer.status !== 200) {
    const outcome = failed('agent_error', `The agent answered ${answer.status}${describeError(value)}.`);
    return { outcome, isRetryable: RETRIED_STATUSES.has(answer.status) };
  }
  if (value === undefined || !('result' in value))
    return { outcome: failed('invalid_response', 'The agent answered without a JSON result.'), isRetryable: false };
  if (isDeeperThan(value.result, MAX_RESULT_DEPTH)) {
    const message = `The agent answered with a result nested deeper than ${MAX_RESULT_DEPTH} levels.`;
    return { outcome: failed('invalid_response', message), isRetryable: false };
  }
  const { cost } = value;
  if (cost !== undefined && cost !== null && !(typeof cost === 'string' && usdcPattern.test(cost)))
    return {
      outcome: failed('invalid_response', 'The agent named a cost that is no USDC amount.'),
      isRetryable: false,
    };
  const claimedMicro = typeof cost === 'string' ? parseUsdc(cost) : null;
  return { outcome: { kind: 'completed', result: value.result, claimedMicro }, isRetryable: false };
}

function parse(body: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** The agent's own words, cut and cleaned: they reach people's terminals. */
function describeError(value: Record<string, unknown> | undefined): string {
  const error = value?.error;
  if (typeof error !== 'object' || error === null) return '';
  const { code, message } = error as { code?: unknown; message?: unknown };
  const text = [code, message].filter((part) => typeof part === 'string').join(': ');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: removing control characters is the point
  const clean = text.replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, ' ').slice(0, MAX_MESSAGE);
  return clean === '' ? '' : `: ${clean}`;
}

const failureOf: Record<GuardedFetchError['kind'], { reason: FailureReason; message: string }> = {
  timeout: { reason: 'deadline_exceeded', message: 'The agent did not answer before the deadline.' },
  aborted: { reason: 'deadline_exceeded', message: 'The call was given up before the agent answered.' },
  too_large: { reason: 'response_too_large', message: 'The agent answered with more than 1 MiB.' },
  redirect: { reason: 'agent_redirected', message: 'The agent redirected the call, which is not followed.' },
  encoding: { reason: 'invalid_response', message: 'The agent answered in a compressed form, which is not taken.' },
  reset: { reason: 'agent_unreachable', message: 'The agent closed the connection without an answer.' },
  connect: { reason: 'agent_unreachable', message: 'The agent could not be reached.' },
  // A name that does not resolve and one that leads to a refused address read alike: the difference would map a private network.
  dns: { reason: 'agent_unreachable', message: 'The agent could not be reached.' },
  blocked: { reason: 'agent_unreachable', message: 'The agent could not be reached.' },
  invalid_url: { reason: 'agent_unreachable', message: "The agent's endpoint is not a URL that can be called." },
};

const readFailure = (error: GuardedFetchError): Attempt => {
  const { reason, message } = failureOf[error.kind];
  return { outcome: failed(reason, message), isRetryable: error.isRetryable };
};
