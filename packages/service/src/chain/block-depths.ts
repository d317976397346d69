import { isDeepEnough } from './confirmation-depth.ts';
import type { UsdcClient } from './usdc-client.ts';
import type { PlaceOnChain } from './used-authorizations.ts';

/**
 * Tells whether a block is this deep. The height of the chain alone does not: a reorg may have put another block in the place of this one, or
 * the height come from an RPC node on another fork. Height and hashes go in one request; none when there are no places.
 */
export async function readDepths(
  usdc: Pick<UsdcClient, 'headBlock' | 'hashAt'>,
  places: readonly PlaceOnChain[],
): Promise<(place: PlaceOnChain, depth: bigint) => boolean> {
  const numbers = [...new Set(places.map(({ blockNumber }) => blockNumber))];
  if (numbers.length === 0) return () => false;
  const [head, ...hashes] = await Promise.all([usdc.headBlock(), ...numbers.map((number) => usdc.hashAt(number))]);
  const hashOf = new Map(numbers.map((number, index) => [number, hashes[index]]));
  return ({ blockNumber, blockHash }, depth) =>
    hashOf.get(blockNumber) === blockHash && isDeepEnough(depth, blockNumber, head);
}

/** The same of one block. */
export async function isBuried(
  usdc: Pick<UsdcClient, 'headBlock' | 'hashAt'>,
  place: PlaceOnChain,
  depth: bigint,
): Promise<boolean> {
  return (await readDepths(usdc, [place]))(place, depth);
}
