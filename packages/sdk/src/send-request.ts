import { ApiError, isUnableToSettle, NoAnswerError } from './api-error.ts';
import type { HttpRequest } from './build-request.ts';
import { isStillRunning } from './conflict-reason.ts';
import { readAnswer, readContent } from './read-answer.ts';
import { retryDelayMs } from './retry-schedule.ts';
import { wait } from './wait.ts';

export interface SendOptions {
  readonly fetch: typeof fetch;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** Repeats after the first attempt. */
  readonly maxRetries: number;
  /** Sees each response before its body is read. */
  readonly onResponse?: (response: Response) => void;
}

/** Sends a request, with retries; the result type depends on the sender. */
export type Send<T> = (request: HttpRequest, options: SendOptions) => Promise<T>;

const passingCodes = ['RATE_LIMITED', 'UNAVAILABLE', 'PAYMENT_PENDING'];

const mayPass = (error: unknown): boolean => {
  if (error instanceof NoAnswerError) return error.status === undefined || [429, 502, 503, 504].includes(error.status);
  return error instanceof ApiError && passingCodes.includes(error.code) && !isUnableToSettle(error);
};

/** `null`: the error is final. */
function pauseMs(error: unknown, attempt: number): number | null {
  if (!mayPass(error) && !isStillRunning(error)) return null;
  return retryDelayMs(attempt, error instanceof ApiError ? error.retryAfterS : undefined, Math.random);
}

/** The answer; null when it failed for a reason that may pass, as while the node restarts, and the caller may ask again. */
export const unlessAway = <T>(answer: Promise<T>, mayAskAgain: boolean): Promise<T | null> =>
  answer.catch((error: unknown) => {
    if (mayAskAgain && pauseMs(error, 0) !== null) return null;
    throw error;
  });

/**
 * Attempts until one succeeds, at most `1 + maxRetries` times. An attempt that finds the one before still running is repeated for up to
 * `timeoutMs` instead. Retries only temporary errors: no answer, 429, a gateway's 502/503/504, UNAVAILABLE and PAYMENT_PENDING.
 */
export async function withRepeats<T>(
  options: Pick<SendOptions, 'maxRetries' | 'timeoutMs' | 'signal'>,
  attempt: () => Promise<T>,
): Promise<T> {
  let runningEndsAtMs = Number.POSITIVE_INFINITY;
  for (let repeats = 0, runningRepeats = 0; ; ) {
    try {
      return await attempt();
    } catch (error) {
      const isRunning = options.maxRetries > 0 && isStillRunning(error);
      // Counted from when that is told: the forerunner may have taken the whole time of an attempt.
      if (isRunning) runningEndsAtMs = Math.min(runningEndsAtMs, performance.now() + options.timeoutMs);
      if (isRunning ? performance.now() > runningEndsAtMs : repeats >= options.maxRetries) throw error;
      const delayMs = pauseMs(error, isRunning ? runningRepeats++ : repeats++);
      if (delayMs === null) throw error;
      await wait(delayMs, options.signal);
    }
  }
}

/** Maps the error of a failed `fetch`: the caller's abort is kept, anything else becomes `NoAnswerError`. */
export function toNoAnswer(url: string, options: SendOptions, timeout: AbortSignal, error: unknown): unknown {
  if (error instanceof ApiError || error instanceof NoAnswerError) return error;
  if (options.signal?.aborted) return options.signal.reason;
  const why = timeout.aborted ? `did not answer within ${options.timeoutMs} ms` : 'could not be reached';
  return new NoAnswerError(`${new URL(url).origin} ${why}`, { cause: error });
}

/** The `fetch` arguments of a request. */
export const fetchInit = ({ method, headers, body }: HttpRequest, signal: AbortSignal): RequestInit => ({
  method,
  headers,
  signal,
  // A node redirects no call: the key, the payment and the task are for it alone.
  redirect: 'manual',
  ...(body === undefined ? {} : { body }),
});

async function sendOnce(request: HttpRequest, options: SendOptions): Promise<unknown> {
  const timeout = AbortSignal.timeout(options.timeoutMs);
  const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout;
  try {
    const response = await options.fetch(request.url, fetchInit(request, signal));
    options.onResponse?.(response);
    return await (request.isForBytes ? readContent(response) : readAnswer(response));
  } catch (error) {
    throw toNoAnswer(request.url, options, timeout, error);
  }
}

/** Sends the identical request until it is answered, repeating as `withRepeats` does; resolves to the `data`. */
export const sendRequest: Send<unknown> = (request, options) => withRepeats(options, () => sendOnce(request, options));
