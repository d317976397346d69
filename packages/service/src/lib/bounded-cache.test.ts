import { expect, it } from 'vitest';
import { createBoundedCache } from './bounded-cache.ts';

it('keeps the entries that were used last, and no more than its bound', () => {
  const cache = createBoundedCache<number>(3);
  for (const n of [1, 2, 3]) cache.set(`key ${n}`, n);
  cache.get('key 1');
  cache.set('key 4', 4);
  expect([1, 2, 3, 4].map((n) => cache.get(`key ${n}`))).toEqual([1, undefined, 3, 4]);
  for (let n = 0; n < 1000; n++) cache.set(`other ${n}`, n);
  expect(cache.size).toBe(3);
});

it('forgets an entry after its time, counted from the start that was given', () => {
  const cache = createBoundedCache<number>(3, 1000);
  cache.set('fresh', 1);
  cache.set('old', 2, { start: performance.now() - 1001 });
  expect(cache.get('fresh')).toBe(1);
  expect(cache.get('old')).toBeUndefined();
});
