import type { ChainContext } from '../onchain/chain-context.ts';
import { countUnknown } from '../onchain/chain-payment-list-store.ts';
import { SETTLED_BY_NOW_MS } from './reconcile.ts';

/** Updates the settlement metrics: ETH of the sending keys, and payments with unknown outcome. */
export async function watchSettlement(ctx: ChainContext): Promise<void> {
  const nowMs = ctx.clock.now().getTime();
  const { count, oldestAt } = await countUnknown(ctx.db, new Date(nowMs - SETTLED_BY_NOW_MS));
  ctx.metrics.unknownPayments.set(count);
  ctx.metrics.oldestUnknownSeconds.set(oldestAt ? (nowMs - oldestAt.getTime()) / 1000 : 0);
  await ctx.gas.refresh();
}
