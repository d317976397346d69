import type { ChainIndex } from '@agent-network/contracts/network/network';

export type ReadingState = ChainIndex['state'];

/** So far behind the head counts as being there: blocks come while others are read. */
const LIVE_BLOCKS = 5n;
const STALLED_MS = 30_000;

/** How a reading goes that is so far behind the head, and got on, or had nothing to read, so long ago. */
export function readingState({ lagBlocks, sinceGoodMs }: { lagBlocks: bigint; sinceGoodMs: number }): ReadingState {
  if (isStalled(sinceGoodMs)) return 'stalled';
  return lagBlocks <= LIVE_BLOCKS ? 'live' : 'syncing';
}

/** Whether reading that last got on, or had nothing to read, so long ago has come to a stop. */
export const isStalled = (sinceGoodMs: number): boolean => sinceGoodMs >= STALLED_MS;

/** How far a block is behind the head; a head that is behind us for a moment is no lag. */
export const lagOf = (headBlock: bigint, block: bigint): bigint => {
  const lag = headBlock - block;
  return lag > 0n ? lag : 0n;
};
