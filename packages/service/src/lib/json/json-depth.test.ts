import { describe, expect, it } from 'vitest';
import { isDeeperThan } from './json-depth.ts';

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
