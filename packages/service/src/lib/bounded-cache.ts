import { LRUCache } from 'lru-cache';

/**
 * The `max` entries that were used last, each for at most `ttl` milliseconds; `onGone` is told of each that is replaced or removed. Takes memory as it fills: with `max` of its own, LRUCache
 * allocates room for all entries at once, which for a few large caches is a tenth of a second of every start.
 */
export const createBoundedCache = <V extends {}>(
  max: number,
  ttl = 0,
  onGone?: (value: V, key: string) => void,
): LRUCache<string, V> =>
  new LRUCache<string, V>({ maxSize: max, sizeCalculation: () => 1, ttl, ...(onGone ? { dispose: onGone } : {}) });
