import { expect, it } from 'vitest';
import { jsonSizeUpTo } from './json-size.ts';

const MAX_BYTES = 1_000_000;

it.each([
  ['a long text', 'x'.repeat(90_000)],
  ['many texts', Array.from({ length: 5000 }, (_, nth) => `word ${nth}`)],
  ['many numbers', Array.from({ length: 300_000 }, () => 1)],
  ['objects in objects', { a: { b: [{ c: 'd'.repeat(20_000) }, null, true] } }],
  ['many keys', Object.fromEntries(Array.from({ length: 5000 }, (_, nth) => [`key ${nth}`, nth]))],
  ['nothing', null],
])('%s: no smaller than the JSON, and at most six times as large', (_, value) => {
  const { length } = JSON.stringify(value);
  const size = jsonSizeUpTo(MAX_BYTES, value);
  expect(size).toBeGreaterThanOrEqual(Math.min(MAX_BYTES, length));
  expect(size).toBeLessThanOrEqual(Math.max(6 * length, 10));
});

it('counts no further than it is told', () => {
  const touched: number[] = [];
  const row = (nth: number) => ({
    get text() {
      touched.push(nth);
      return 'x'.repeat(100);
    },
  });
  expect(
    jsonSizeUpTo(
      1000,
      Array.from({ length: 500 }, (_, nth) => row(nth)),
    ),
  ).toBe(1000);
  expect(touched.length).toBeLessThan(20);
});
