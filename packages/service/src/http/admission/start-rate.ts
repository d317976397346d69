const WINDOW_MS = 1000;

/** Requests that were started of late. */
export interface StartRate {
  count(nowMs: number): void;
  /** By the better of the last two seconds in which any were; 0: not known. */
  perMs(): number;
}

export function createStartRate(): StartRate {
  let sinceMs = 0;
  let count = 0;
  /** Of the last two windows: one in which the process or its database paused says nothing of the next. */
  let last = [0, 0];
  return {
    count(nowMs) {
      if (nowMs - sinceMs >= WINDOW_MS) {
        last = [count / (nowMs - sinceMs), last[0] ?? 0];
        sinceMs = nowMs;
        count = 0;
      }
      count += 1;
    },
    perMs: () => Math.max(...last),
  };
}
