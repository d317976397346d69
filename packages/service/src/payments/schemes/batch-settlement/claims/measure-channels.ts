import type { ClaimContext } from './claim-context.ts';
import { readChannelFigures } from './claim-store.ts';

/** A claim is overdue this long after the interval of claims, and after a payer began to withdraw. */
const GRACE_MS = 600_000;
const WITHDRAWAL_GRACE_MS = 300_000;

/** Updates the metrics of channels: open ones, unclaimed amounts, and overdue claims. */
export async function measureChannels(ctx: ClaimContext): Promise<void> {
  const { metrics, channelClaimSettings } = ctx;
  const { intervalMs, minMicro } = channelClaimSettings;
  const nowMs = ctx.clock.now().getTime();
  const figures = await readChannelFigures(ctx.db, ctx.chain, {
    minMicro,
    chargedBefore: new Date(nowMs - intervalMs - GRACE_MS),
    withdrawnBefore: new Date(nowMs - WITHDRAWAL_GRACE_MS),
  });
  const { open, unclaimedMicro, oldestAt, overdue, withdrawals } = figures;
  metrics.channelsOpen.set(open);
  metrics.channelUnclaimed.set(Number(unclaimedMicro));
  metrics.channelOldestUnclaimedSeconds.set(oldestAt ? Math.max(0, (nowMs - oldestAt.getTime()) / 1000) : 0);
  metrics.channelClaimsOverdue.set(overdue);
  metrics.channelWithdrawals.set(withdrawals);
}
