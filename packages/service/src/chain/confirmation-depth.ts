import type { Confirmations } from '../config.ts';

/** Required confirmation depth for payments of each amount. */
export interface HasConfirmations {
  readonly confirmations: Confirmations;
}

/** Confirmations that an amount requires: blocks from the payment's to the newest, both counted. */
export function depthFor(confirmations: Confirmations, amountMicro: bigint): bigint {
  const step = confirmations.findLast(({ fromMicro }) => fromMicro <= amountMicro);
  return BigInt(step?.depthBlocks ?? 1);
}

/** The highest depth that any amount requires. */
export const deepestOf = (confirmations: Confirmations): bigint =>
  BigInt(Math.max(1, ...confirmations.map(({ depthBlocks }) => depthBlocks)));

export const isDeepEnough = (depth: bigint, block: bigint, head: bigint): boolean => head - block + 1n >= depth;
