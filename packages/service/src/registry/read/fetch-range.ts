import type { ChainPoint } from '../../chain/blocks/chain-point.ts';
import { readAgainFrom } from '../../chain/blocks/read-again.ts';
import { minOf } from '../../lib/bigints.ts';
import type { FoundLog } from './decode-registry-log.ts';
import type { ChainBlock, FoundLogs, RegistryClient } from './registry-log-client.ts';
import type { RegistryIndex } from './registry-tokens.ts';

/** The logs of the blocks after a point, and the points to record for them. */
export interface FetchedRange extends FoundLogs {
  readonly fromBlock: bigint;
  readonly points: readonly ChainPoint[];
  /** Logs of blocks before `fromBlock` that were read again: those that are not stored yet came late. */
  readonly again: readonly FoundLog[];
}

interface RangeWanted {
  /** The last point read; null before the first. */
  readonly after: ChainPoint | null;
  readonly headBlock: bigint;
  readonly maxBlocks: bigint;
}

/**
 * Each block within this distance of the head becomes a point of its own, so that a reorg costs little. A saved local chain has its newest
 * 256 blocks, and has dropped empty ones before.
 */
const NEAR_BLOCKS = 255n;
const ASKED_AT_ONCE = 50n;

type Asked = Pick<RegistryIndex, 'registry'> & { readonly registryClient: RegistryClient };
interface FarRange {
  readonly after: ChainPoint | null;
  readonly to: bigint;
  readonly near: bigint;
}

/**
 * Reads the logs after a point, for a limited number of blocks. Null when the answers do not belong to one chain that contains the point:
 * it was reorganised, or load-balanced RPC nodes disagree. Throws errors of the client.
 */
export async function fetchRange(ctx: Asked, wanted: RangeWanted): Promise<FetchedRange | null> {
  const { after, headBlock } = wanted;
  const fromBlock = after === null ? ctx.registry.startBlock : after.block + 1n;
  const near = headBlock - NEAR_BLOCKS;
  const to = minOf(fromBlock + wanted.maxBlocks - 1n, fromBlock <= near ? near : headBlock);
  const points =
    fromBlock <= near ? await farPoint(ctx, { after, to, near }) : await nearPoints(ctx, after, fromBlock, to);
  const end = points?.at(-1);
  if (!points || !end) return null;
  const isAtHead = after !== null && end.block === headBlock;
  const [found, again] = await Promise.all([
    ctx.registryClient.logsIn(fromBlock, end.block),
    isAtHead ? readAgain(ctx, { after, to: end.block, maxBlocks: wanted.maxBlocks }) : [],
  ]);
  const isOne = found.endHash === end.hash && areOf(points, found);
  return isOne && again !== null ? { ...found, fromBlock, points, again } : null;
}

/** The logs of the earlier blocks that a read up to the head repeats; null when the RPC node that answers has another chain. */
async function readAgain(
  { registry, registryClient }: Asked,
  { after, to, maxBlocks }: { readonly after: ChainPoint; readonly to: bigint; readonly maxBlocks: bigint },
): Promise<FoundLog[] | null> {
  const first = readAgainFrom(after.block, to);
  const logs: FoundLog[] = [];
  let endHash: string | null = after.hash;
  for (let from = first > registry.startBlock ? first : registry.startBlock; from <= after.block; from += maxBlocks) {
    const found = await registryClient.logsIn(from, minOf(from + maxBlocks - 1n, after.block));
    logs.push(...found.logs);
    endHash = found.endHash;
  }
  return endHash === after.hash ? logs : null;
}

/** Reads one point far from the head and verifies that the chain still has the previous one. */
async function farPoint(ctx: Asked, { after, to, near }: FarRange): Promise<ChainBlock[] | null> {
  const { isLocal } = ctx.registry;
  const [end, before] = await ctx.registryClient.blocksAt(after === null ? [to] : [to, after.block]);
  const isKnown = before ? before.hash === after?.hash : after === null || isLocal;
  if (!isKnown) return null;
  const standing = end ?? (isLocal ? await nextKnown(ctx, to, near) : null);
  return standing ? [standing] : null;
}

/** The first block above a dropped one. The blocks in between were empty, so the range gains no logs. */
async function nextKnown(
  ctx: { readonly registryClient: RegistryClient },
  to: bigint,
  near: bigint,
): Promise<ChainBlock | null> {
  for (let from = to + 1n; from <= near; from += ASKED_AT_ONCE) {
    const last = minOf(from + ASKED_AT_ONCE - 1n, near);
    const known = (await ctx.registryClient.blocksAt(heightsOf(from, last))).find((block) => block !== null);
    if (known) return known;
  }
  return null;
}

async function nearPoints(
  { registryClient }: { readonly registryClient: RegistryClient },
  after: ChainPoint | null,
  fromBlock: bigint,
  to: bigint,
): Promise<ChainBlock[] | null> {
  const heights = heightsOf(fromBlock, to);
  const blocks = (await registryClient.blocksAt(heights)).filter((block) => block !== null);
  const isChain = blocks.every(({ parentHash }, index) => {
    const parent = index === 0 ? after : blocks[index - 1];
    return parent === null || parent?.hash === parentHash;
  });
  return isChain && blocks.length === heights.length ? blocks : null;
}

const heightsOf = (from: bigint, to: bigint): bigint[] =>
  Array.from({ length: Number(to - from) + 1 }, (_, index) => from + BigInt(index));

/** True if the logs belong to the blocks that we know. */
function areOf(points: readonly ChainPoint[], { logs }: FoundLogs): boolean {
  const hashes = new Map(points.map(({ block, hash }) => [block, hash]));
  return logs.every(({ block, blockHash }) => (hashes.get(block) ?? blockHash) === blockHash);
}
