import { invalid } from '../lib/app-error.ts';

const DEFAULT_MS = 10 * 60_000;
/** Where the caller waits for the result itself. */
const AWAITED_DEFAULT_MS = 5 * 60_000;
const MAX_MS = 24 * 3_600_000;

/** When an invocation must have ended: the caller's wish, within 24 hours; ten minutes without one, five where the result is awaited. */
export function deadlineOf(wish: string | undefined, now: Date, { isAwaited } = { isAwaited: false }): Date {
  if (wish === undefined) return new Date(now.getTime() + (isAwaited ? AWAITED_DEFAULT_MS : DEFAULT_MS));
  const deadline = new Date(wish);
  if (deadline <= now) throw invalid('deadline', 'has passed');
  if (deadline.getTime() - now.getTime() > MAX_MS) throw invalid('deadline', 'is more than 24 hours from now');
  return deadline;
}
