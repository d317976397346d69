import fc from 'fast-check';
import { expect, it } from 'vitest';
import { feeOf } from './take-fees.ts';

it.each([
  [50_000n, 0, 0n],
  [50_000n, 250, 1250n],
  [50_000n, 5000, 25_000n],
  [1n, 5000, 0n],
  [3n, 5000, 1n],
  [39n, 250, 0n],
  [40n, 250, 1n],
  [999_999_999_999_999_999n, 5000, 499_999_999_999_999_999n],
])('of %s micro-USDC at %s basis points the node keeps %s', (earnedMicro, feeBps, kept) => {
  expect(feeOf(earnedMicro, feeBps)).toBe(kept);
});

it('never rounds in favour of the node, and by less than a micro-USDC', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 18n }), fc.integer({ min: 0, max: 5000 }), (earnedMicro, feeBps) => {
      const exact = earnedMicro * BigInt(feeBps);
      const kept = feeOf(earnedMicro, feeBps) * 10_000n;
      return kept <= exact && exact - kept < 10_000n;
    }),
  );
});
