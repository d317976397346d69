import type { Invocation, Question } from '../invocation.ts';

/** Longest time from the start of a call to its end, its questions included. */
const MAX_CALL_MS = 24 * 3_600_000;
/** Least time to run after an answer. */
const LEAST_RUN_MS = 30_000;

interface Bounds {
  /** Maximum seconds of a call that is paid by channel. */
  readonly longestChannelCallS: number | undefined;
}

type Timed = Pick<Invocation, 'createdAt' | 'deadline' | 'scheme' | 'inputTimeoutS'>;

/** Latest end of an interactive call that is accepted now, however often its agent asks. */
export const latestEnd = (acceptedAt: Date): Date => new Date(acceptedAt.getTime() + MAX_CALL_MS);

/** The last moment of a call: after it, what paid for it may not be there any more. */
function lastEndOf({ createdAt, scheme }: Timed, { longestChannelCallS }: Bounds): number {
  const channelMs = scheme === 'batch-settlement' ? (longestChannelCallS ?? 0) * 1000 : MAX_CALL_MS;
  return createdAt.getTime() + Math.min(MAX_CALL_MS, channelMs);
}

/** Time that a question waits, and the time to run that is left; null: there is no time for an answer. */
export function timesOfQuestion(
  invocation: Timed,
  { timeoutS }: Pick<Question, 'timeoutS'>,
  now: Date,
  bounds: Bounds,
): { readonly expiresAt: Date; readonly leftMs: number } | null {
  const nowMs = now.getTime();
  const waitMs = 1000 * Math.min(timeoutS ?? Number.POSITIVE_INFINITY, invocation.inputTimeoutS ?? 0);
  const expiresMs = Math.min(nowMs + waitMs, lastEndOf(invocation, bounds) - LEAST_RUN_MS);
  const leftMs = Math.max(0, invocation.deadline.getTime() - nowMs);
  return expiresMs <= nowMs ? null : { expiresAt: new Date(Math.floor(expiresMs)), leftMs };
}

/** The deadline of a call that goes on: what was left of its time, at least 30 s, within its last moment. */
export const deadlineAfterAnswer = (invocation: Timed, leftMs: number, now: Date, bounds: Bounds): Date =>
  new Date(Math.min(now.getTime() + Math.max(leftMs, LEAST_RUN_MS), lastEndOf(invocation, bounds)));
