import { createBoundedCache } from '../bounded-cache.ts';

export interface Rate {
  /** Amount that is refilled each second. */
  readonly perS: number;
  /** Amount after a pause. */
  readonly burst: number;
}

/** Token buckets by key, in memory. Evicts the least recently used keys. */
export interface Meter {
  /** Time until the key has this amount; 0 if it has. */
  waitMs(key: string, amount: number, nowMs: number): number;
  /** Uses an amount, which may exceed the rest: the overdraft is refilled first. */
  use(key: string, amount: number, nowMs: number): void;
}

const MAX_KEYS = 50_000;

export function createMeter({ perS, burst, maxOverdraft = Infinity }: Rate & { maxOverdraft?: number }): Meter {
  const buckets = createBoundedCache<{ readonly left: number; readonly atMs: number }>(MAX_KEYS);
  const perMs = perS / 1000;
  const leftOf = (key: string, nowMs: number) => {
    const bucket = buckets.get(key);
    return bucket ? Math.min(burst, bucket.left + (nowMs - bucket.atMs) * perMs) : burst;
  };
  return {
    waitMs: (key, amount, nowMs) => Math.max(0, (amount - leftOf(key, nowMs)) / perMs),
    use: (key, amount, nowMs) =>
      void buckets.set(key, { left: Math.max(-maxOverdraft, leftOf(key, nowMs) - amount), atMs: nowMs }),
  };
}
