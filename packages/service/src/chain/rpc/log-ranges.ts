import { isOfAnySize, isUnanswered } from './rpc-errors.ts';

/** Blocks of the first query. */
const MAX_BLOCKS = 2000n;

/**
 * Has `read` read the logs of all blocks from one to another, a range at a time. Ranges become smaller while it throws, as some RPC nodes
 * limit the size of a log query, or do not answer a large one in time; throws when a single block can't be read, and at once when the node
 * takes no query of any size.
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
      if (start === end || isOfAnySize(error)) throw error;
      most = (end - start + 1n) / 4n || 1n;
    }
  }
}

/**
 * Searches ranges from the newest block back until `search` returns something other than undefined; undefined: not found. The logs searched
 * for are few, so a timeout is thrown at once instead of trying a smaller range. Throws when a range would begin after `endMs` (time of
 * this process).
 */
export async function searchLogRanges<Found>(
  from: bigint,
  to: bigint,
  search: (start: bigint, end: bigint) => Promise<Found | undefined>,
  endMs = Number.POSITIVE_INFINITY,
): Promise<Found | undefined> {
  let most = MAX_BLOCKS;
  for (let end = to; end >= from; ) {
    if (performance.now() > endMs) throw new Error(`the logs before block ${end} could not be searched in time`);
    const start = end - most + 1n > from ? end - most + 1n : from;
    try {
      const found = await search(start, end);
      if (found !== undefined) return found;
      end = start - 1n;
    } catch (error) {
      if (start === end || isOfAnySize(error) || isUnanswered(error)) throw error;
      most = (end - start + 1n) / 4n || 1n;
    }
  }
  return undefined;
}
