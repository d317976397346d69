import { invalid } from '../lib/app-error.ts';

const DEFAULT_MS = 10 * 60_000;
const MAX_MS = 24 * 3_600_000;

/** When an invocation must have ended: the caller's wish, within 24 hours; ten minutes without one. */
export function deadlineOf(wish: string | undefined, now: Date): Date {
  if (wish === undefined) return new Date(now.getTime() + DEFAULT_MS);
  const deadline = new Date(wish);
  if (deadline <= now) throw invalid('deadline', 'has passed');
  if (deadline.getTime() - now.getTime() > MAX_MS) throw invalid('deadline', 'is more than 24 hours from now');
  return deadline;
}
