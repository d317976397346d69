/** Blocks of the first query. */
const MAX_BLOCKS = 2000n;

/**
 * Has `read` read the logs of all blocks from one to another, a range at a time. Ranges become smaller while it throws, as some RPC nodes
 * limit the size of a log query; throws when a single block can't be read.
 */
export async function readLogRanges(
  from: bigint,
  to: bigint,
  read: (start: bigint, end: bigint) => Promise<void>,
): Promise<void> {
  let most = MAX_BLOCKS;
  for (let start = from; start <= to; ) {
    const end = start + most - 1n < to ? start + most - 1n : to;
    try {
      await read(start, end);
      start = end + 1n;
    } catch (error) {
      if (most === 1n) throw error;
      most = most / 4n || 1n;
    }
  }
}

/**
 * The same from the newest block back, until `search` returns something other than undefined; the answer is undefined if it never does.
 */
export async function searchLogRanges<Found>(
  from: bigint,
  to: bigint,
  search: (start: bigint, end: bigint) => Promise<Found | undefined>,
): Promise<Found | undefined> {
  let most = MAX_BLOCKS;
  for (let end = to; end >= from; ) {
    const start = end - most + 1n > from ? end - most + 1n : from;
    try {
      const found = await search(start, end);
      if (found !== undefined) return found;
      end = start - 1n;
    } catch (error) {
      if (most === 1n) throw error;
      most = most / 4n || 1n;
    }
  }
  return undefined;
}
