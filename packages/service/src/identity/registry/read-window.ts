/** How many blocks one question about logs covers, and how many it may grow to. */
export interface ReadWindow {
  readonly blocks: bigint;
  readonly mostBlocks: bigint;
}

const MOST_BLOCKS = 100_000n;
/** Answers with fewer logs let the window grow, with more make it shrink. */
const FEW_LOGS = 2500;
const MANY_LOGS = 10_000;

export const firstWindow: ReadWindow = { blocks: 2000n, mostBlocks: MOST_BLOCKS };

/** After an answer of so many logs about a range of so many blocks. */
export function afterAnswer(window: ReadWindow, logs: number, blocks: bigint): ReadWindow {
  // What was once refused is tried again, but not every second time.
  const mostBlocks = smaller(window.mostBlocks + window.mostBlocks / 16n + 1n, MOST_BLOCKS);
  if (logs > MANY_LOGS) return { blocks: half(window.blocks), mostBlocks };
  const isFull = blocks >= window.blocks;
  return { blocks: isFull && logs < FEW_LOGS ? smaller(window.blocks * 2n, mostBlocks) : window.blocks, mostBlocks };
}

/** After a refusal, which limits how far the window grows again for a while. */
export const afterRefusal = ({ blocks }: ReadWindow): ReadWindow => ({
  blocks: half(blocks),
  mostBlocks: blocks > 1n ? blocks - 1n : 1n,
});

const half = (blocks: bigint): bigint => (blocks > 1n ? blocks / 2n : 1n);
const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b);
