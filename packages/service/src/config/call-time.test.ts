import fc from 'fast-check';
import { expect, it } from 'vitest';
import { leastDelayS, longestCallS } from './call-time.ts';

/** All that settings and callers may choose, and when a payer begins to withdraw after its voucher was taken. */
const courses = fc
  .record({
    depth: fc.integer({ min: 1, max: 100 }),
    delayS: fc.integer({ min: 900, max: 2_592_000 }),
    deadlineS: fc.integer({ min: 1, max: 86_400 }),
    withdrawsAtS: fc.nat({ max: 172_800 }),
  })
  .filter(({ depth, delayS }) => delayS >= leastDelayS(depth));

it('a call that a channel pays ends, and is claimed as deep as any amount asks for, before half of the delay of a withdrawal is over', () =>
  fc.assert(
    fc.property(courses, ({ depth, delayS, deadlineS, withdrawsAtS }) => {
      const endsAtS = Math.min(deadlineS, longestCallS(delayS, depth));
      const claimedAtS = Math.max(endsAtS, withdrawsAtS) + 60 + 12 * depth;
      expect(endsAtS).toBeGreaterThan(0);
      expect(claimedAtS).toBeLessThanOrEqual(withdrawsAtS + delayS / 2);
    }),
    { numRuns: 5000 },
  ));

it('the shortest delay of a depth leaves a minute for a call', () => {
  for (let depth = 1; depth <= 100; depth++) {
    expect(longestCallS(leastDelayS(depth), depth)).toBe(60);
    expect(longestCallS(leastDelayS(depth) - 2, depth)).toBeLessThan(60);
  }
});
