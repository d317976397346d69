import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countJsonNodes, isDeeperThan, jsonSizeUpTo } from './json-limits.ts';

const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));

describe('isDeeperThan', () => {
  it('counts lists and objects, not what they hold', () => {
    expect(isDeeperThan('text', 0)).toBe(false);
    expect(isDeeperThan([1, 'a', null], 1)).toBe(false);
    expect(isDeeperThan([{}], 1)).toBe(true);
    expect(isDeeperThan({ a: [{ b: 1 }] }, 3)).toBe(false);
    expect(isDeeperThan({ a: 1, b: [{ b: 1 }] }, 2)).toBe(true);
  });

  it('answers for any depth that JSON can bring', () => {
    expect(isDeeperThan(nested(32), 32)).toBe(false);
    expect(isDeeperThan(nested(33), 32)).toBe(true);
    expect(isDeeperThan(nested(500_000), 32)).toBe(true);
  });
});

const countOf = (value: unknown): number => countJsonNodes(Buffer.from(JSON.stringify(value)));

function nodesOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const below = Object.values(value).reduce((sum: number, each) => sum + nodesOf(each), 0);
  return 1 + below + (Array.isArray(value) ? 0 : Object.keys(value).length);
}

it('names, lists and objects are counted, and nothing within texts', () =>
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(countOf(value)).toBe(nodesOf(value));
    }),
  ));

it.each([
  ['{"a\\":[{":"[{:"}', 2],
  ['[[],{}]', 3],
  ['"\\\\"', 0],
  ['{"a":', 2],
] as const)('of %s there are %s', (text, count) => expect(countJsonNodes(Buffer.from(text))).toBe(count));

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
