import { LRUCache } from 'lru-cache';

/**
 * LRU cache of `max` entries, each kept for at most `ttl` milliseconds; `onGone` is called for each that is replaced or removed. It
 * allocates memory as it fills: with its own `max`, LRUCache allocates room for all entries at once, which for a few large caches is a
 * tenth of a second of every start.
 */
export const createBoundedCache = <V extends {}>(
  max: number,
  ttl = 0,
  onGone?: (value: V, key: string) => void,
): LRUCache<string, V> =>
  new LRUCache<string, V>({ maxSize: max, sizeCalculation: () => 1, ttl, ...(onGone ? { dispose: onGone } : {}) });
