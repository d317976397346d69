import { minOf } from '../../lib/bigints.ts';

/** Number of blocks covered by one log query. */
export interface ReadWindow {
  readonly blocks: bigint;
  /** Limit up to which the window doubles; above it, where a query was refused, it grows slowly. */
  readonly doublesUpTo: bigint;
}

const MAX_BLOCKS = 100_000n;
/** Answers with fewer logs grow the window, answers with more shrink it. */
const FEW_LOGS = 2500;
const MANY_LOGS = 10_000;

export const firstWindow: ReadWindow = { blocks: 2000n, doublesUpTo: MAX_BLOCKS };

/** The window after an answer with this many logs for this many blocks. */
export function afterAnswer(window: ReadWindow, logs: number, blocks: bigint): ReadWindow {
  if (logs > MANY_LOGS) return { ...window, blocks: half(window.blocks) };
  const isFull = blocks >= window.blocks;
  return isFull && logs < FEW_LOGS ? { ...window, blocks: minOf(grown(window), MAX_BLOCKS) } : window;
}

const grown = ({ blocks, doublesUpTo }: ReadWindow): bigint =>
  blocks < doublesUpTo ? minOf(blocks * 2n, doublesUpTo) : blocks + blocks / 16n + 1n;

/** The window after a refused query over this many blocks (default: the whole window). */
export function afterRefusal(window: ReadWindow, asked: bigint = window.blocks): ReadWindow {
  const blocks = half(minOf(asked, window.blocks));
  return { blocks, doublesUpTo: blocks };
}

const half = (blocks: bigint): bigint => (blocks > 1n ? blocks / 2n : 1n);
