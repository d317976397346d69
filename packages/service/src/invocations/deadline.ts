import { AppError, invalid } from '../lib/app-error.ts';

const DEFAULT_MS = 10 * 60_000;
/** Default deadline for a caller that waits for the result. */
const AWAITED_DEFAULT_MS = 5 * 60_000;
const MAX_MS = 24 * 3_600_000;

/** This request accepted nothing; a concurrent repetition may have accepted the call just before. */
export class DeadlinePassedError extends AppError<'VALIDATION_ERROR'> {
  constructor() {
    const { code, message, extra } = invalid('deadline', 'has passed');
    super(code, message, extra);
  }
}

/** The deadline of an invocation: the caller's, within 24 hours; by default ten minutes, five when the caller waits for the result. */
export function deadlineOf(wish: string | undefined, now: Date, { isAwaited } = { isAwaited: false }): Date {
  if (wish === undefined) return new Date(now.getTime() + (isAwaited ? AWAITED_DEFAULT_MS : DEFAULT_MS));
  const deadline = new Date(wish);
  if (deadline <= now) throw new DeadlinePassedError();
  if (deadline.getTime() - now.getTime() > MAX_MS) throw invalid('deadline', 'is more than 24 hours from now');
  return deadline;
}
