import type { ChainContext } from '../../../chain-outbox/chain-context.ts';
import { channelsOwingUnread, channelsReadLongAgo } from './channel-reading-store.ts';
import { refreshChannels } from './refresh-channels.ts';

/** A day of Base. */
const REREAD_BLOCKS = 43_200n;
/** Maximum channels in one multicall. */
const MAX_REREAD = 150;

/**
 * Reads channels again in case an event was missed: those that owe at least `owedMicro`, several times within their withdrawal delay, so
 * that it is claimed in time; then those not read for a day, oldest reading first, so that reserves show the miss.
 */
export async function rereadChannels(ctx: ChainContext, owedMicro: bigint): Promise<void> {
  const least = { owedMicro, now: ctx.clock.now(), most: MAX_REREAD };
  const owing = await channelsOwingUnread(ctx.db, ctx.chain, least);
  const old = await channelsReadLongAgo(ctx.db, ctx.chain, { blocks: REREAD_BLOCKS, most: MAX_REREAD });
  for (const ids of [owing, old]) if (ids.length > 0) await refreshChannels(ctx, ids);
}
