import type { ChainContext } from '../../../chain-outbox/chain-context.ts';
import { channelsOwingUnread, channelsReadLongAgo } from './channel-reading-store.ts';
import { refreshChannels } from './refresh-channels.ts';

/** A day of Base. */
const REREAD_BLOCKS = 43_200n;
/** As many as one call reads. */
const MAX_REREAD = 150;

/**
 * Reads channels again whatever the events say, as one may have been missed: those that owe so much several times within the delay of
 * their payers' withdrawals, so that what is owed is claimed in time; then those whose last reading is the longest ago, after a day, so that
 * it shows in the reserves as well.
 */
export async function rereadChannels(ctx: ChainContext, owedMicro: bigint): Promise<void> {
  const { chainId } = ctx.chain;
  const least = { owedMicro, now: ctx.clock.now(), most: MAX_REREAD };
  const owing = await channelsOwingUnread(ctx.db, chainId, least);
  const old = await channelsReadLongAgo(ctx.db, chainId, { blocks: REREAD_BLOCKS, most: MAX_REREAD });
  for (const ids of [owing, old]) if (ids.length > 0) await refreshChannels(ctx, ids);
}
