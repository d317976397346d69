/** Source of the current time for use cases; tests replace it. */
export interface Clock {
  now(): Date;
}

export interface HasClock {
  readonly clock: Clock;
}

export const systemClock: Clock = { now: () => new Date() };

export interface FixedClock extends Clock {
  set(to: Date | string | number): void;
  advance(byMs: number): void;
}

/** A clock that stands still until it is set. Accepts the arguments of `new Date`; throws `RangeError` on an invalid date. */
export function fixedClock(start: Date | string | number): FixedClock {
  let nowMs = toMs(start);
  return {
    now: () => new Date(nowMs),
    set(to) {
      nowMs = toMs(to);
    },
    advance(byMs) {
      nowMs = toMs(nowMs + byMs);
    },
  };
}

function toMs(at: Date | string | number): number {
  const ms = new Date(at).getTime();
  if (Number.isNaN(ms)) throw new RangeError(`Not a date: ${String(at)}`);
  return ms;
}
