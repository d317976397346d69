import type { ChainContext } from '../../../onchain/chain-context.ts';
import { channelsReadLongAgo } from './channel-reading-store.ts';
import { refreshChannels } from './refresh-channels.ts';

/** A day of Base. */
const REREAD_BLOCKS = 43_200n;
/** As many as one call reads. */
const MAX_REREAD = 150;

/** Reads the channels again whose last reading is the longest ago: an event that was missed shows after a day, in the reserves as well. */
export async function rereadChannels(ctx: ChainContext): Promise<void> {
  const ids = await channelsReadLongAgo(ctx.db, ctx.chain.chainId, { blocks: REREAD_BLOCKS, most: MAX_REREAD });
  if (ids.length > 0) await refreshChannels(ctx, ids);
}
