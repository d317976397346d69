const WINDOW_MS = 1000;

/** Counts recently started requests. */
export interface StartRate {
  count(nowMs: number): void;
  /** The higher rate of the last two seconds in which requests were started; 0: not known. */
  perMs(): number;
}

export function createStartRate(): StartRate {
  let sinceMs = 0;
  let count = 0;
  /** Rates of the last two windows, the newest first. Two, as one in which the process or its database paused says nothing of the next. */
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
