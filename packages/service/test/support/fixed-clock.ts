import type { Clock } from '../../src/lib/clock.ts';

export interface FixedClock extends Clock {
  set(to: Date | string | number): void;
  advance(byMs: number): void;
}

/** A clock that stands still until it is moved. Takes the arguments of `new Date`. */
export function fixedClock(start: Date | string | number): FixedClock {
  let nowMs = new Date(start).getTime();
  return {
    now: () => new Date(nowMs),
    set(to) {
      nowMs = new Date(to).getTime();
    },
    advance(byMs) {
      nowMs += byMs;
    },
  };
}
