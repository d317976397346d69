import { ApiError, NoAnswerError } from './api-error.ts';
import type { HttpRequest } from './build-request.ts';
import { readAnswer } from './read-answer.ts';
import { retryDelayMs } from './retry-schedule.ts';
import { wait } from './wait.ts';

export interface SendOptions {
  readonly fetch: typeof fetch;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** Repeats after the first attempt; 0 for a request that must not run twice. */
  readonly maxRetries: number;
  /** Sees each response before its body is read. */
  readonly onResponse?: (response: Response) => void;
}

const mayPass = (error: unknown): boolean => {
  if (error instanceof NoAnswerError) return error.status === undefined || [429, 502, 503, 504].includes(error.status);
  return error instanceof ApiError && ['RATE_LIMITED', 'UNAVAILABLE', 'PAYMENT_PENDING'].includes(error.code);
};

async function sendOnce(request: HttpRequest, options: SendOptions): Promise<unknown> {
  const timeout = AbortSignal.timeout(options.timeoutMs);
  const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout;
  try {
    const { url, body, method, headers } = request;
    const response = await options.fetch(url, { method, headers, signal, ...(body === undefined ? {} : { body }) });
    options.onResponse?.(response);
    return await readAnswer(response);
  } catch (error) {
    if (error instanceof ApiError || error instanceof NoAnswerError) throw error;
    options.signal?.throwIfAborted();
    const why = timeout.aborted ? `did not answer within ${options.timeoutMs} ms` : 'could not be reached';
    throw new NoAnswerError(`${new URL(request.url).origin} ${why}`, { cause: error });
  }
}

/**
 * Sends the identical request until it is answered, at most `1 + maxRetries` times; resolves to the `data`.
 * Repeats only what may pass: no answer, 429, a gateway's 502/503/504, UNAVAILABLE and PAYMENT_PENDING.
 */
export async function sendRequest(request: HttpRequest, options: SendOptions): Promise<unknown> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await sendOnce(request, options);
    } catch (error) {
      if (attempt >= options.maxRetries || !mayPass(error)) throw error;
      const retryAfterS = error instanceof ApiError ? error.retryAfterS : undefined;
      const delayMs = retryDelayMs(attempt, retryAfterS, Math.random);
      if (delayMs === null) throw error;
      await wait(delayMs, options.signal);
    }
  }
}
