/** How many blocks one question about logs covers. */
export interface ReadWindow {
  readonly blocks: bigint;
  /** Where it was refused it grows slowly; up to here it is doubled. */
  readonly doublesUpTo: bigint;
}

const MAX_BLOCKS = 100_000n;
/** Answers with fewer logs let the window grow, with more make it shrink. */
const FEW_LOGS = 2500;
const MANY_LOGS = 10_000;

export const firstWindow: ReadWindow = { blocks: 2000n, doublesUpTo: MAX_BLOCKS };

/** After an answer of so many logs about a range of so many blocks. */
export function afterAnswer(window: ReadWindow, logs: number, blocks: bigint): ReadWindow {
  if (logs > MANY_LOGS) return { ...window, blocks: half(window.blocks) };
  const isFull = blocks >= window.blocks;
  return isFull && logs < FEW_LOGS ? { ...window, blocks: smaller(grown(window), MAX_BLOCKS) } : window;
}

const grown = ({ blocks, doublesUpTo }: ReadWindow): bigint =>
  blocks < doublesUpTo ? smaller(blocks * 2n, doublesUpTo) : blocks + blocks / 16n + 1n;

/** After a refusal to tell of so many blocks, or of all that the window has. */
export function afterRefusal(window: ReadWindow, asked: bigint = window.blocks): ReadWindow {
  const blocks = half(smaller(asked, window.blocks));
  return { blocks, doublesUpTo: blocks };
}

const half = (blocks: bigint): bigint => (blocks > 1n ? blocks / 2n : 1n);
const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b);
