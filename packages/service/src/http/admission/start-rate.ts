const WINDOW_MS = 1000;

/** Requests that were started of late. */
export interface StartRate {
  count(nowMs: number): void;
  /** By the last whole second in which any were; 0: not known. */
  perMs(nowMs: number): number;
}

export function createStartRate(): StartRate {
  let sinceMs = 0;
  let count = 0;
  let perMs = 0;
  return {
    count(nowMs) {
      if (nowMs - sinceMs >= WINDOW_MS) {
        perMs = count / (nowMs - sinceMs);
        sinceMs = nowMs;
        count = 0;
      }
      count += 1;
    },
    perMs: (nowMs) => (nowMs - sinceMs < WINDOW_MS ? perMs : count / (nowMs - sinceMs)),
  };
}
