import type { ClaimContext } from './claim-context.ts';
import { readChannelFigures } from './claim-store.ts';

/** Updates the metrics of channels: how many are open, and what is charged and not claimed. */
export async function measureChannels(ctx: ClaimContext): Promise<void> {
  const { open, unclaimedMicro, oldestAt } = await readChannelFigures(ctx.db, ctx.chain.chainId);
  const nowMs = ctx.clock.now().getTime();
  ctx.metrics.channelsOpen.set(open);
  ctx.metrics.channelUnclaimed.set(Number(unclaimedMicro));
  ctx.metrics.channelOldestUnclaimedSeconds.set(oldestAt ? Math.max(0, (nowMs - oldestAt.getTime()) / 1000) : 0);
}
