import type { Api } from '@agent-network/contracts/api';
import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import type { InputRequest } from '@agent-network/contracts/invocations/turns';
import { isApiError, isUnableToSettle, NoAnswerError } from './api-error.ts';
import type { CallOf, Client } from './client-types.ts';
import { conflictReasonOf } from './conflict-reason.ts';
import { wait } from './wait.ts';

/** The request ended without a result; `record` has the reason and the refund. */
export class InvocationFailedError extends Error {
  override readonly name = 'InvocationFailedError';
  readonly record: RequestRecord;

  constructor(record: RequestRecord) {
    super(record.error?.message ?? `The request ${record.requestId} was ${record.status}`);
    this.record = record;
  }
}

/**
 * The request was made, but its end is unknown and polling has stopped. It continues, and `requestId` finds it. `cause`: the reason of the
 * caller's abort, or the error of the node.
 */
export class InvocationUnknownError extends Error {
  override readonly name: string = 'InvocationUnknownError';
  readonly requestId: string;

  constructor(requestId: string, message: string, cause: unknown) {
    super(message, { cause });
    this.requestId = requestId;
  }
}

/** The end of the request is unknown after `timeoutMs`; it continues, and `requestId` finds it. `cause`: the last polling error, if any. */
export class InvocationTimeoutError extends InvocationUnknownError {
  override readonly name = 'InvocationTimeoutError';

  constructor(requestId: string, timeoutMs: number, cause?: unknown) {
    super(requestId, `The request ${requestId} is still open after ${timeoutMs} ms`, cause);
  }
}

/** The agent asks, and the call has no `onInput`: give one, or answer with `client.answerInput`. `record` has the question. */
export class InputRequiredError extends InvocationUnknownError {
  override readonly name = 'InputRequiredError';
  readonly record: RequestRecord;

  constructor(record: RequestRecord) {
    super(record.requestId, `The agent asks: ${record.inputRequest?.message ?? ''}`, undefined);
    this.record = record;
  }
}

/** An answer to a question of an agent. */
export type InputAnswer = Omit<CallOf<Api['answerInput']>['body'], 'inputId'>;

/** Answers a question. The message, schema and link are a stranger's: show the host of a link before it is opened. */
export type OnInput = (question: InputRequest, record: RequestRecord) => InputAnswer | Promise<InputAnswer>;

type InvokeCall = CallOf<Api['invokeAgent']>;

export interface WaitOptions {
  /**
   * Maximum wait for the end of the request, from the call on; default 600,000. It does not bound the starting of the request: the client's
   * `timeoutMs` and `maxRetries` do. The last look may take a quarter of a second more.
   */
  readonly timeoutMs?: number;
  /** The first pause between two looks; each next one is half as long again, up to 5 s. Default 250. */
  readonly pollMs?: number;
  readonly signal?: AbortSignal;
  readonly headers?: NonNullable<InvokeCall['headers']>;
  /**
   * Answers the agent when it asks back, and makes the call `interactive`. The time that it takes does not count in `timeoutMs`. Its errors
   * are passed on; the question stays open until it expires. Default: the agent cannot ask.
   */
  readonly onInput?: OnInput;
  /** A quote of this agent, to call it at the quoted price. */
  readonly quote?: string;
  /** Makes an invocation that is made again later the same one: see `CallOptions`. */
  readonly idempotencyKey?: string;
}

const longestPauseMs = 5_000;
/** The last look, at the end of the wait, has this long. */
const leastLookMs = 250;
/** A timer of more than this fires at once. */
const longestTimerMs = 2 ** 31 - 1;

function resultOrThrow(record: RequestRecord): RequestRecord | null {
  if (record.status === 'failed' || record.status === 'cancelled') throw new InvocationFailedError(record);
  if (record.status === 'input_required') return null;
  return record.status === 'completed' ? record : null;
}

/** True if polling should continue: the node restarts, or rate-limits the caller, and the request continues. */
const mayAskAgain = (error: unknown): boolean =>
  error instanceof NoAnswerError || (isApiError(error) && (error.status >= 500 || error.code === 'RATE_LIMITED'));

/**
 * Invokes an agent and resolves to the completed record. Throws `InvocationFailedError` when the request failed or was cancelled,
 * `InvocationTimeoutError` when its end is unknown after `timeoutMs`, `InvocationUnknownError` when the caller aborts or the node refuses
 * to answer, and errors of `client.invokeAgent`.
 */
export async function invokeAndWait(
  client: Pick<Client, 'invokeAgent' | 'getInvocation' | 'answerInput'>,
  agentId: string,
  body: InvokeCall['body'],
  options: WaitOptions = {},
): Promise<RequestRecord> {
  const { timeoutMs = 600_000, pollMs = 250, signal, headers, quote, idempotencyKey, onInput } = options;
  let endsAtMs = performance.now() + timeoutMs;
  const callOptions = signal ? { signal } : {};
  const answer = await client.invokeAgent(
    {
      params: { agentId },
      body: onInput ? { ...body, interactive: true } : body,
      ...(headers ? { headers } : {}),
      ...(quote ? { query: { quote } } : {}),
    },
    { ...callOptions, ...(idempotencyKey ? { idempotencyKey } : {}) },
  );
  const { requestId } = answer;
  const stop = (why: unknown): never => {
    const text = why instanceof Error ? why.message : String(why);
    throw new InvocationUnknownError(requestId, `The end of the request ${requestId} is not known: ${text}`, why);
  };
  const answered = async (record: RequestRecord | null) => {
    if (record?.status !== 'input_required' || !record.inputRequest) return record && resultOrThrow(record);
    const askedMs = performance.now();
    const after = await answerQuestion(client, record, { onInput, signal });
    endsAtMs += performance.now() - askedMs;
    return after && resultOrThrow(after);
  };
  let done = 'paymentMethod' in answer ? await answered(answer) : null;
  let lastError: unknown;
  for (let pauseMs = pollMs; !done; pauseMs = Math.min(longestPauseMs, pauseMs * 1.5)) {
    const leftMs = endsAtMs - performance.now();
    if (leftMs <= 0) throw new InvocationTimeoutError(requestId, timeoutMs, lastError);
    await wait(Math.min(pauseMs, leftMs), signal).catch(stop);
    // One look with its repeats can take minutes at a node that hangs.
    const lookMs = Math.max(leastLookMs, endsAtMs - performance.now());
    const timeUp = AbortSignal.timeout(Math.min(Math.ceil(lookMs), longestTimerMs));
    const looking = { signal: signal ? AbortSignal.any([signal, timeUp]) : timeUp };
    const record = await client.getInvocation({ params: { requestId } }, looking).catch((error: unknown) => {
      const isTimeUp = timeUp.aborted && !signal?.aborted;
      if (!isTimeUp && !mayAskAgain(error)) return stop(error);
      // Why the node did not answer before says more than that the time is up.
      if (!isTimeUp || lastError === undefined) lastError = error;
      return null;
    });
    done = await answered(record);
  }
  return done;
}

/** Has a question answered. Null: another answer was first, or the time was over; polling tells what came of it. */
async function answerQuestion(
  client: Pick<Client, 'answerInput'>,
  record: RequestRecord,
  { onInput, signal }: { readonly onInput: OnInput | undefined; readonly signal: AbortSignal | undefined },
): Promise<RequestRecord | null> {
  const { inputRequest, requestId } = record;
  if (!onInput || !inputRequest) throw new InputRequiredError(record);
  const answer = await onInput(inputRequest, record);
  const call = { params: { requestId }, body: { ...answer, inputId: inputRequest.inputId } };
  return client.answerInput(call, signal ? { signal } : {}).catch((error: unknown) => {
    if (isApiError(error) && gone.has(error.code)) return null;
    throw error;
  });
}

const gone: ReadonlySet<string> = new Set(['INPUT_ALREADY_ANSWERED', 'INPUT_NOT_REQUIRED', 'INPUT_EXPIRED']);

/** A call that its caller stopped waiting for is not stopped: reasons of `AbortController.abort` and `AbortSignal.timeout`. */
const isAbort = (error: unknown): boolean =>
  error instanceof DOMException && (error.name === 'AbortError' || error.name === 'TimeoutError');

/**
 * True if a call that moves money may have been executed, or may yet be, although it ended with this error. Repeat it unchanged, under
 * the same Idempotency-Key and with the payment that it showed (`error.paymentHeaders`), or read the request that an
 * `InvocationUnknownError` names (`error.requestId`); never replace it by a new call.
 */
export function mayHaveHappened(error: unknown): boolean {
  if (error instanceof NoAnswerError || error instanceof InvocationUnknownError || isAbort(error)) return true;
  if (!isApiError(error) || isUnableToSettle(error)) return false;
  // A payment that was shown may be on its way; without one, nothing was bought.
  if (error.code === 'AGENT_UNAVAILABLE') return error.paymentHeaders !== undefined;
  if (error.status >= 500 || error.code === 'RATE_LIMITED') return true;
  return conflictReasonOf(error) !== undefined;
}
