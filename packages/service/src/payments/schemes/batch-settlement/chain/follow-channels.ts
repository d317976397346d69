import { areCanonical, type ChainPoint, newestCanonical, requireChain } from '../../../../chain/blocks/chain-point.ts';
import { readAgainFrom } from '../../../../chain/blocks/read-again.ts';
import { readLogRanges } from '../../../../chain/rpc/log-ranges.ts';
import { failpoint } from '../../../../lib/process/failpoint.ts';
import type { ChainContext } from '../../../chain-outbox/chain-context.ts';
import {
  channelPoints,
  dueChannels,
  hasChannels,
  knownChannelsIn,
  makeDue,
  writeReadings,
} from './channel-reading-store.ts';
import { readAtHead } from './refresh-channels.ts';

/** After a longer pause all channels are read, instead of the events of the time between. */
const MAX_GAP = 20_000n;

/** Findings of a run. */
export interface ChannelNews {
  /** Channels that the payer has begun to withdraw from: claim their debts before the withdrawal can finish. */
  readonly withdrawRequested: readonly string[];
  /** True if claims of the node's channels or sweeps into its wallet may have been mined. */
  readonly hasClaims: boolean;
}

const nothing: ChannelNews = { withdrawRequested: [], hasClaims: false };

/**
 * Follows the settlement contract: reads again the channels of the node that have events since shortly before the last run, that a reorg may
 * have changed, or of which a deposit is deep enough by now. The point up to which events were read advances in the transaction that writes
 * the sums: if the process dies, they are read again.
 */
export async function followChannels(ctx: ChainContext): Promise<ChannelNews> {
  if (!(await hasChannels(ctx.db, ctx.chain))) return nothing;
  const before = await canonicalPoint(ctx);
  const head = await ctx.settlementContract.headBlock();
  const hash = await ctx.settlementContract.hashAt(head);
  if (hash === null || (before !== null && head <= before.block)) return nothing;
  const isFar = before === null || head - before.block > MAX_GAP;
  if (isFar) await makeDue(ctx.db, ctx.chain, null);
  const events = isFar ? { ids: [], hasClaims: true } : await readEvents(ctx, before.block, head);
  const due = await dueChannels(ctx.db, ctx.chain, { block: head, readUpTo: before?.block ?? head });
  failpoint('before-channel-read');
  const read = await readAtHead(ctx, [...new Set([...events.ids, ...due])]);
  failpoint('after-channel-read');
  // The sums may be of a later block; its events are left to the next run. A reorg meanwhile: the events may be of removed blocks.
  if (read === null || read.block.number < head) return nothing;
  const point = { block: head, hash };
  if (!(await areCanonical([...(before ? [before] : []), point], ctx.settlementContract.hashAt))) return nothing;
  const withdrawRequested = await ctx.db.transaction(async (tx) => {
    if (!(await channelPoints.add(tx, ctx.chain, { before, point }))) return [];
    const requested = await writeReadings(tx, read.block.number, read.readings, ctx.clock.now());
    failpoint('before-channel-read-commit');
    return requested;
  });
  failpoint('after-channel-read-commit');
  return { withdrawRequested, hasClaims: events.hasClaims };
}

/** The newest point that is still on the chain; null: none is. Blocks after it are read again when a reorg replaced them. */
async function canonicalPoint(ctx: ChainContext): Promise<ChainPoint | null> {
  const points = await channelPoints.list(ctx.db, ctx.chain);
  const [newest] = points;
  if (newest === undefined) return null;
  const point = await newestCanonical(points, ctx.settlementContract.hashAt);
  if (point?.block === newest.block) return newest;
  await requireChain(ctx);
  const block = point?.block ?? -1n;
  await ctx.db.transaction(async (tx) => {
    await channelPoints.goBack(tx, ctx.chain, block);
    await makeDue(tx, ctx.chain, block);
  });
  ctx.log.warn({ block: String(block) }, 'chain reorganised; reading payment channels again');
  return point;
}

/**
 * Channels of the node in the token with events after a block and in some before it, and whether one of those after it is a claim or a
 * sweep: these are also booked without an event. The contract logs those of all receivers and tokens.
 */
async function readEvents(
  ctx: ChainContext,
  after: bigint,
  to: bigint,
): Promise<{ ids: string[]; hasClaims: boolean }> {
  const ids = new Set<string>();
  const claimed = new Set<string>();
  let isSwept = false;
  await readLogRanges(readAgainFrom(after, to), to, async (start, end) => {
    for (const { event, blockNumber } of await ctx.settlementContract.readLogs(start, end)) {
      const isNew = blockNumber > after;
      if (event.kind === 'swept')
        isSwept ||= isNew && event.receiver === ctx.chain.wallet && event.token === ctx.chain.token;
      else ids.add(event.channelId);
      if (event.kind === 'claimed' && isNew) claimed.add(event.channelId);
    }
  });
  const known = await knownChannelsIn(ctx.db, ctx.chain, [...ids]);
  return { ids: known, hasClaims: isSwept || known.some((id) => claimed.has(id)) };
}
