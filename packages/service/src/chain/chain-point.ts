/** A block up to which logs have been read. */
export interface ChainPoint {
  readonly block: bigint;
  readonly hash: string;
}

/** Concurrent hash reads. The first point, which usually suffices, is read alone. */
const AT_ONCE = 16;

/**
 * The newest of these points (given newest first) that is still on the chain; null when none is. `hashAt` returns the hash of the block at
 * a height, or null when the chain has none there.
 */
export async function newestStanding(
  points: readonly ChainPoint[],
  hashAt: (block: bigint) => Promise<string | null>,
): Promise<ChainPoint | null> {
  for (let start = 0; start < points.length; start += start === 0 ? 1 : AT_ONCE) {
    const some = points.slice(start, start === 0 ? 1 : start + AT_ONCE);
    const hashes = await Promise.all(some.map(({ block }) => hashAt(block)));
    const standing = some.find(({ hash }, index) => hashes[index] === hash);
    if (standing) return standing;
  }
  return null;
}
