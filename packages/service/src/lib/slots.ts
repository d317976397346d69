export interface Slots {
  /** Number of free slots. */
  free(): number;
  /** Keys that have as many running as one may have; `most`: as many as these. */
  crowded(most?: number): string[];
  /** Starts work, under one key or several; whoever asks has seen that there is room. What it throws is for `onError`. */
  run(keys: string | readonly string[], work: () => Promise<void>): void;
  /** Resolves when nothing runs. */
  idle(): Promise<void>;
}

/** Room for so many pieces of work at once, and so many of one key: one that is slow leaves the others theirs. */
export function createSlots({
  most: mostAtOnce,
  mostOfKey,
  onError,
}: {
  most: number;
  mostOfKey: number;
  onError: (error: unknown) => void;
}): Slots {
  const running = new Map<Promise<void>, readonly string[]>();
  return {
    free: () => mostAtOnce - running.size,
    crowded(most = mostOfKey) {
      const counts = Map.groupBy([...running.values()].flat(), (key) => key);
      return [...counts].filter(([, { length }]) => length >= most).map(([key]) => key);
    },
    run(keys, work) {
      const done: Promise<void> = work()
        .catch(onError)
        .finally(() => running.delete(done));
      running.set(done, [keys].flat());
    },
    idle: async () => void (await Promise.all(running.keys())),
  };
}
