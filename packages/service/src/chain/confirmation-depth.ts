import type { Confirmations } from '../config.ts';

/** How deep in the chain payments of each amount must be before they count. */
export interface HasConfirmations {
  readonly confirmations: Confirmations;
}

/** Blocks from the one that has the payment to the newest, both counted, that an amount asks for. */
export function depthFor(confirmations: Confirmations, amountMicro: bigint): bigint {
  const step = confirmations.findLast(({ fromMicro }) => fromMicro <= amountMicro);
  return BigInt(step?.depthBlocks ?? 1);
}

/** The most that any amount asks for. */
export const deepestOf = (confirmations: Confirmations): bigint =>
  BigInt(Math.max(1, ...confirmations.map(({ depthBlocks }) => depthBlocks)));

export const isDeepEnough = (depth: bigint, block: bigint, head: bigint): boolean => head - block + 1n >= depth;
