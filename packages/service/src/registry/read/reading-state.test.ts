import { expect, it } from 'vitest';
import { lagOf, readingState } from './reading-state.ts';

it.each([
  [0n, 0, 'live'],
  [5n, 29_999, 'live'],
  [6n, 0, 'syncing'],
  [1_000_000n, 29_999, 'syncing'],
  [1_000_000n, 30_000, 'stalled'],
  [0n, 30_000, 'stalled'],
] as const)('%i blocks behind, and %i ms since it last got on: %s', (lagBlocks, sinceGoodMs, state) => {
  expect(readingState({ lagBlocks, sinceGoodMs })).toBe(state);
});

it('a lag is counted from the last block that was read, and is none when the head is behind it', () => {
  expect(lagOf(100n, 90n)).toBe(10n);
  expect(lagOf(0n, -1n)).toBe(1n);
  expect(lagOf(90n, 100n)).toBe(0n);
});
