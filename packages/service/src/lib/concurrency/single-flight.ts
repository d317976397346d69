/** Shares one run of `work` among all calls of the same key that come while it is running. */
export function singleFlight<Args extends readonly unknown[], T>(
  work: (...args: Args) => Promise<T>,
  keyOf: (...args: Args) => string = () => '',
): (...args: Args) => Promise<T> {
  const running = new Map<string, Promise<T>>();
  return (...args) => {
    const key = keyOf(...args);
    const known = running.get(key);
    if (known) return known;
    const started = work(...args).finally(() => running.delete(key));
    running.set(key, started);
    return started;
  };
}

/** A single flight that caches its last result until `maxAgeMs` after the start of its run. A failure is not cached. */
export function cachedFlight<T>(
  maxAgeMs: number,
  work: () => Promise<T>,
  nowMs: () => number = () => performance.now(),
): () => Promise<T> {
  let last: { readonly value: T; readonly startMs: number } | null = null;
  return singleFlight(async () => {
    const startMs = nowMs();
    if (last && startMs - last.startMs < maxAgeMs) return last.value;
    const value = await work();
    last = { value, startMs };
    return value;
  });
}
