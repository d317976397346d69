export interface Slots {
  /** Number of free slots. */
  free(): number;
  /** Keys that have reached their limit of running work, or `most`. */
  crowded(most?: number): string[];
  /** Starts work under one key or several; the caller has checked that there is room. Errors go to `onError`. */
  run(keys: string | readonly string[], work: () => Promise<void>): void;
  /** Resolves when nothing runs. */
  idle(): Promise<void>;
}

/** Limits concurrent work, in total and by key, so that a slow key cannot block the others. */
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
