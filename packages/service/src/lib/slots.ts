export interface Slots {
  /** How many more may run now. */
  free(): number;
  /** Keys that have as many running as one may have. */
  crowded(): string[];
  /** Starts work; whoever asks has seen that there is room. What it throws is for `onError`. */
  run(key: string, work: () => Promise<void>): void;
  /** Resolves when nothing runs. */
  idle(): Promise<void>;
}

/** Room for so many pieces of work at once, and so many of one key: one that is slow leaves the others theirs. */
export function createSlots({
  most,
  mostOfKey,
  onError,
}: {
  most: number;
  mostOfKey: number;
  onError: (error: unknown) => void;
}): Slots {
  const running = new Map<Promise<void>, string>();
  return {
    free: () => most - running.size,
    crowded() {
      const counts = Map.groupBy(running.values(), (key) => key);
      return [...counts].filter(([, { length }]) => length >= mostOfKey).map(([key]) => key);
    },
    run(key, work) {
      const done: Promise<void> = work()
        .catch(onError)
        .finally(() => running.delete(done));
      running.set(done, key);
    },
    idle: async () => void (await Promise.all(running.keys())),
  };
}
