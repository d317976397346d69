import { expect, it } from 'vitest';
import { depthFor, isDeepEnough } from './confirmation-depth.ts';

const steps = [
  { fromMicro: 0n, depthBlocks: 1 },
  { fromMicro: 10_000_000n, depthBlocks: 3 },
  { fromMicro: 1_000_000_000n, depthBlocks: 12 },
];

it.each([
  [1n, 1n],
  [9_999_999n, 1n],
  [10_000_000n, 3n],
  [999_999_999n, 3n],
  [1_000_000_000n, 12n],
  [10n ** 15n, 12n],
])('%d micro-USDC must be %d deep', (amount, depth) => expect(depthFor(steps, amount)).toBe(depth));

it('the block itself counts', () => {
  expect(isDeepEnough(1n, 7n, 7n)).toBe(true);
  expect(isDeepEnough(3n, 7n, 8n)).toBe(false);
  expect(isDeepEnough(3n, 7n, 9n)).toBe(true);
  expect(isDeepEnough(1n, 7n, 6n)).toBe(false);
});
