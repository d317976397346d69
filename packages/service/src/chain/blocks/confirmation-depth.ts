import type { Confirmations } from '../../config/networks.ts';
import type { UsdcClient } from '../usdc-client.ts';
import type { BlockReference } from '../used-authorizations.ts';

/** Confirmations that an amount requires: blocks from the payment's to the newest, both counted. */
export function depthFor(confirmations: Confirmations, amountMicro: bigint): bigint {
  const step = confirmations.findLast(({ fromMicro }) => fromMicro <= amountMicro);
  return BigInt(step?.depthBlocks ?? 1);
}

/** The highest depth that any amount requires. */
export const deepestOf = (confirmations: Confirmations): bigint =>
  BigInt(Math.max(1, ...confirmations.map(({ depthBlocks }) => depthBlocks)));

export const isDeepEnough = (depth: bigint, block: bigint, head: bigint): boolean => head - block + 1n >= depth;

/**
 * Returns a function that is true if a block has this depth. The chain's height alone is not enough: a reorg may have replaced the block,
 * or the height may come from an RPC node on another fork. Height and hashes go in one request; none when there are no places.
 */
export async function readDepths(
  usdc: Pick<UsdcClient, 'headBlock' | 'hashAt'>,
  places: readonly BlockReference[],
): Promise<(place: BlockReference, depth: bigint) => boolean> {
  const numbers = [...new Set(places.map(({ blockNumber }) => blockNumber))];
  if (numbers.length === 0) return () => false;
  const [head, ...hashes] = await Promise.all([usdc.headBlock(), ...numbers.map((number) => usdc.hashAt(number))]);
  const hashOf = new Map(numbers.map((number, index) => [number, hashes[index]]));
  return ({ blockNumber, blockHash }, depth) =>
    hashOf.get(blockNumber) === blockHash && isDeepEnough(depth, blockNumber, head);
}

/** True if a block is still on the chain and has this depth. */
export async function isBuried(
  usdc: Pick<UsdcClient, 'headBlock' | 'hashAt'>,
  place: BlockReference,
  depth: bigint,
): Promise<boolean> {
  return (await readDepths(usdc, [place]))(place, depth);
}
