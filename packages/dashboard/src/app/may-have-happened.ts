import { isApiError, NoAnswerError } from '@agent-network/sdk';

/**
 * Whether a call that moves money may have been done, or may yet be, although it ended with this error. Then it is sent again as it
 * was, under the same Idempotency-Key, and never made anew.
 */
export function mayHaveHappened(error: unknown): boolean {
  if (error instanceof NoAnswerError) return true;
  if (!isApiError(error)) return false;
  if (error.status >= 500 || error.code === 'RATE_LIMITED') return true;
  // The first attempt is still running.
  return error.code === 'CONFLICT' && error.retryAfterS !== undefined;
}
