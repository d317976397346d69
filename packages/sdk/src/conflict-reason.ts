import type { ConflictReason } from '@agent-network/contracts/errors';
import { isApiError } from './api-error.ts';

/** State of the first call under the same Idempotency-Key, from a 409; undefined: the error is about something else. */
export function conflictReasonOf(error: unknown): ConflictReason | undefined {
  if (!isApiError(error, 'CONFLICT')) return undefined;
  const reason = error.extra.details?.reason;
  if (reason !== undefined) return reason;
  // Older nodes say it in the message alone.
  if (error.retryAfterS !== undefined || error.message.includes('still running')) return 'still_running';
  return error.message.includes('was done, and is not done again') ? 'answer_lost' : undefined;
}

/** The first attempt with the same Idempotency-Key is not done yet: the answer is still to come. */
export const isStillRunning = (error: unknown): boolean => conflictReasonOf(error) === 'still_running';
