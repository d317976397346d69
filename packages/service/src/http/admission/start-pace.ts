/** A turn of the event loop, as measured: the time that it took, the processor time in it, and the requests that it started. */
export interface Turn extends TurnLength {
  readonly started: number;
}

export interface TurnLength {
  readonly wallMs: number;
  readonly cpuMs: number;
}

/**
 * Processor time of a turn up to which requests are started. A read waits for two or three turns, and a call that runs for a dozen: with turns
 * of 10 ms fewer calls ended in overload, as each took longer.
 */
export const TURN_MS = 2.5;
/** Length of a turn up to which they are started where others have the processor too, down to turns of this much processor time. */
export const WALL_MS = 4;
export const MIN_MS = 0.6;
export const MAX_PER_TURN = 512;

/** Requests that the next turn may start, at least one. Falls at once to what a turn of the right length would have started, and rises slowly. */
export function nextPace(pace: number, { wallMs, cpuMs, started }: Turn): number {
  const over = Math.max(cpuMs / TURN_MS, Math.min(wallMs / WALL_MS, cpuMs / MIN_MS));
  if (over <= 1) return Math.min(MAX_PER_TURN, pace * 1.1 + 0.5);
  return Math.max(1, Math.min(pace, Math.max(1, started)) / over);
}
