/** Multiple of the overload wait that a burst may take, and the age at which a line is no burst. */
const BURST = 5;
const STANDS_AFTER = 2.5;

/**
 * The time that a request may wait to be started, by the time since its tenant last had none waiting: a burst is waited out; in a
 * line that stands, waiting only makes everybody late (controlled delay: Nichols and Jacobson; for servers: Maurer, "Fail at Scale").
 */
export const waitLimitMs = (maxQueueMs: number, standingMs: number): number =>
  isStanding(maxQueueMs, standingMs) ? maxQueueMs : BURST * maxQueueMs;

export const isStanding = (maxQueueMs: number, standingMs: number): boolean => standingMs > STANDS_AFTER * maxQueueMs;

/** A request that waits, or is about to. */
export interface Waiter {
  /** Time that it has waited, and the expected rest of its wait by the recent rate; null: not known yet. */
  readonly waitedMs: number;
  readonly expectedMs: number | null;
  readonly standingMs: number;
  /** Time until its own deadline; null: it names none. */
  readonly untilDeadlineMs: number | null;
  /** A repetition of what was started before: its first run may have been paid. */
  readonly isRepeated: boolean;
  /** Expected duration once it is started, as such calls took recently; 0: not known. */
  readonly takesMs: number;
}

/** Half of the calls take longer than the average one. */
const SAFETY = 1.5;
/** Calls that come together wait for a moment on a node that keeps up: what they take is for their callers to know. */
const MOMENT_MS = 250;

export type ShedReason = 'queue_time' | 'full' | 'deadline';

/**
 * The reason for which a request is not to wait any longer; null: it waits. Expected times count in standing lines only: before, they are
 * guesses.
 */
export function whyShed(maxQueueMs: number, waiter: Waiter): 'queue_time' | 'deadline' | null {
  const { waitedMs, standingMs, untilDeadlineMs, isRepeated, takesMs } = waiter;
  const expectedMs = isStanding(maxQueueMs, standingMs) && !isRepeated ? (waiter.expectedMs ?? 0) : 0;
  const runMs = standingMs > MOMENT_MS ? SAFETY * takesMs : 0;
  // A repetition asks for a result, which may be there.
  if (untilDeadlineMs !== null && !isRepeated && untilDeadlineMs <= expectedMs + runMs) return 'deadline';
  const limitMs = waitLimitMs(maxQueueMs, isRepeated ? 0 : standingMs);
  return waitedMs > limitMs || waitedMs + expectedMs > limitMs ? 'queue_time' : null;
}
