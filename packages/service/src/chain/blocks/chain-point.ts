import type { ChainAccess } from '../chain-access.ts';

/** A block up to which logs have been read. */
export interface ChainPoint {
  readonly block: bigint;
  readonly hash: string;
}

/** A block from which logs are read on; without a hash where the chain does not know it any more, as a local one that dropped old blocks. */
export interface BeginPoint {
  readonly block: bigint;
  readonly hash: string | null;
}

/** Concurrent hash reads. The first point, which usually suffices, is read alone. */
const AT_ONCE = 16;

/**
 * The newest of these points (given newest first) that is still on the chain; null when none is. `hashAt` returns the hash of the block at
 * a height, or null when the chain has none there.
 */
export async function newestCanonical(
  points: readonly ChainPoint[],
  hashAt: (block: bigint) => Promise<string | null>,
): Promise<ChainPoint | null> {
  for (let start = 0; start < points.length; start += start === 0 ? 1 : AT_ONCE) {
    const some = points.slice(start, start === 0 ? 1 : start + AT_ONCE);
    const hashes = await Promise.all(some.map(({ block }) => hashAt(block)));
    const canonical = some.find(({ hash }, index) => hashes[index] === hash);
    if (canonical) return canonical;
  }
  return null;
}

/**
 * The point from which a follower of the chain continues: the newest of these points (given newest first) that is still on the chain. After
 * a reorg deeper than all of them, the present block at the height of the oldest. Null: there are no points.
 */
export async function pointToGoOnFrom(
  points: readonly ChainPoint[],
  hashAt: (block: bigint) => Promise<string | null>,
): Promise<BeginPoint | null> {
  const oldest = points.at(-1);
  const canonical = await newestCanonical(points, hashAt);
  if (canonical || !oldest) return canonical;
  return { block: oldest.block, hash: await hashAt(oldest.block) };
}

/**
 * True when all of these points are on the chain now. Then no reorg has affected blocks read between two points, if the upper one was known
 * before reading.
 */
export async function areCanonical(
  points: readonly BeginPoint[],
  hashAt: (block: bigint) => Promise<string | null>,
): Promise<boolean> {
  const hashes = await Promise.all(points.map(({ block }) => hashAt(block)));
  return points.every(({ hash }, index) => hashes[index] === hash);
}

/**
 * Throws when the RPC node serves another chain than at the start of this process: the difference is not a reorg, and must not reverse
 * anything.
 */
export async function requireChain({ chain, usdc }: ChainAccess): Promise<void> {
  requireSame(chain.chainId, await usdc.chainId());
}

export function requireSame(chainId: number, served: number): void {
  if (served !== chainId) throw new Error(`the RPC URL serves chain ${served} now instead of ${chainId}`);
}
