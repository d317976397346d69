import type { ChainIndex } from '@agent-network/contracts/network/network';

export type ReadingState = ChainIndex['state'];

/** Maximum lag behind the head that still counts as live: blocks arrive while others are read. */
const LIVE_BLOCKS = 5n;
const STALLED_MS = 30_000;

/** Sync state, from block lag and time since last progress. */
export function readingState({ lagBlocks, sinceGoodMs }: { lagBlocks: bigint; sinceGoodMs: number }): ReadingState {
  if (isStalled(sinceGoodMs)) return 'stalled';
  return lagBlocks <= LIVE_BLOCKS ? 'live' : 'syncing';
}

/** True if reading has made no progress for so long that it counts as stalled; having nothing to read counts as progress. */
export const isStalled = (sinceGoodMs: number): boolean => sinceGoodMs >= STALLED_MS;

/** Lag of a block behind the head; 0 when the reported head is momentarily older. */
export const lagOf = (headBlock: bigint, block: bigint): bigint => {
  const lag = headBlock - block;
  return lag > 0n ? lag : 0n;
};
