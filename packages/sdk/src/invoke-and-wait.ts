import type { Api } from '@agent-network/contracts/api';
import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import type { CallOf, Client } from './client-types.ts';
import { wait } from './wait.ts';

/** The request ended without a result; `record` says why and what was refunded. */
export class InvocationFailedError extends Error {
  override readonly name = 'InvocationFailedError';
  readonly record: RequestRecord;

  constructor(record: RequestRecord) {
    super(record.error?.message ?? `The request ${record.requestId} was ${record.status}`);
    this.record = record;
  }
}

/** The request is still open after `timeoutMs`; it goes on, and `requestId` finds it. */
export class InvocationTimeoutError extends Error {
  override readonly name = 'InvocationTimeoutError';
  readonly requestId: string;

  constructor(requestId: string, timeoutMs: number) {
    super(`The request ${requestId} is still open after ${timeoutMs} ms`);
    this.requestId = requestId;
  }
}

type InvokeCall = CallOf<Api['invokeAgent']>;

export interface WaitOptions {
  /** Maximum wait for the end of the request; default 600,000. */
  readonly timeoutMs?: number;
  /** The first pause between two looks; each next one is half as long again, up to 5 s. Default 250. */
  readonly pollMs?: number;
  readonly signal?: AbortSignal;
  readonly headers?: NonNullable<InvokeCall['headers']>;
  /** A quote of this agent, whose price is used. */
  readonly quote?: string;
}

const longestPauseMs = 5_000;

function resultOrThrow(record: RequestRecord): RequestRecord | null {
  if (record.status === 'failed' || record.status === 'cancelled') throw new InvocationFailedError(record);
  return record.status === 'completed' ? record : null;
}

/**
 * Invokes an agent and resolves to the completed record. Throws `InvocationFailedError` when the request failed or was
 * cancelled, `InvocationTimeoutError` when it is still open after `timeoutMs`, and what `client.invokeAgent` throws.
 */
export async function invokeAndWait(
  client: Pick<Client, 'invokeAgent' | 'getInvocation'>,
  agentId: string,
  body: InvokeCall['body'],
  options: WaitOptions = {},
): Promise<RequestRecord> {
  const { timeoutMs = 600_000, pollMs = 250, signal, headers, quote } = options;
  const endsAtMs = performance.now() + timeoutMs;
  const callOptions = signal ? { signal } : {};
  const answer = await client.invokeAgent(
    { params: { agentId }, body, ...(headers ? { headers } : {}), ...(quote ? { query: { quote } } : {}) },
    callOptions,
  );
  const { requestId } = answer;
  let done = 'paymentMethod' in answer ? resultOrThrow(answer) : null;
  for (let pauseMs = pollMs; !done; pauseMs = Math.min(longestPauseMs, pauseMs * 1.5)) {
    const leftMs = endsAtMs - performance.now();
    if (leftMs <= 0) throw new InvocationTimeoutError(requestId, timeoutMs);
    await wait(Math.min(pauseMs, leftMs), signal);
    done = resultOrThrow(await client.getInvocation({ params: { requestId } }, callOptions));
  }
  return done;
}
