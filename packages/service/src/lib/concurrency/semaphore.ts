/** Limits how much work runs at once. Waiting work starts in order of arrival. */
export interface Semaphore {
  /** Number of free permits. */
  free(): number;
  /** Takes a permit; without a free one, returns false and calls `retry` once when there may be one. */
  tryAcquire(retry: () => void): boolean;
  release(): void;
  /** Runs work with a permit, and counts it under its keys until it ends. */
  run<T>(work: () => Promise<T>, keys?: readonly string[]): Promise<T>;
  /** Keys with at least this much work. Takers of work leave these out, so that a slow key cannot block the others. */
  crowdedKeys(atLeast: number): string[];
  /** Resolves when the work that was passed to `run` so far has ended. */
  idle(): Promise<void>;
}

export function createSemaphore(max = 1): Semaphore {
  let taken = 0;
  const waiting = new Set<() => void>();
  const running = new Map<Promise<unknown>, readonly string[]>();

  function tryAcquire(retry: () => void): boolean {
    if (taken >= max) {
      waiting.add(retry);
      return false;
    }
    taken += 1;
    return true;
  }

  function release(): void {
    taken -= 1;
    for (const retry of waiting) {
      if (taken >= max) return;
      waiting.delete(retry);
      retry();
    }
  }

  async function runWithPermit<T>(work: () => Promise<T>): Promise<T> {
    await new Promise<void>((resolve) => {
      const enter = () => {
        if (tryAcquire(enter)) resolve();
      };
      enter();
    });
    try {
      return await work();
    } finally {
      release();
    }
  }

  function run<T>(work: () => Promise<T>, keys: readonly string[] = []): Promise<T> {
    const done: Promise<T> = runWithPermit(work).finally(() => running.delete(done));
    running.set(done, keys);
    return done;
  }

  return {
    free: () => max - taken,
    tryAcquire,
    release,
    run,
    crowdedKeys(atLeast) {
      const counts = Map.groupBy([...running.values()].flat(), (key) => key);
      return [...counts].filter(([, { length }]) => length >= atLeast).map(([key]) => key);
    },
    idle: async () => void (await Promise.allSettled(running.keys())),
  };
}
