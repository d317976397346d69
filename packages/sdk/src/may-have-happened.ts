import { isApiError, isUnableToSettle, NoAnswerError } from './api-error.ts';
import { conflictReasonOf } from './conflict-reason.ts';
import { InvocationUnknownError } from './invoke-and-wait.ts';

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
