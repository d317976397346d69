import { isApiError, NoAnswerError } from '@agent-network/sdk';

/**
 * True if a call that moves money may have been executed, or may yet be, although it ended with this error. It is then repeated unchanged,
 * under the same Idempotency-Key, and never replaced by a new one.
 */
export function mayHaveHappened(error: unknown): boolean {
  if (error instanceof NoAnswerError) return true;
  if (!isApiError(error)) return false;
  if (error.status >= 500 || error.code === 'RATE_LIMITED') return true;
  // The first attempt is still running.
  return error.code === 'CONFLICT' && error.retryAfterS !== undefined;
}
