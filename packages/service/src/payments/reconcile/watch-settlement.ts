import type { ChainContext } from '../chain-outbox/chain-context.ts';
import { countUnknown } from '../chain-outbox/chain-payment-list-store.ts';
import { countHeld } from '../chain-outbox/held-payout-store.ts';
import { SETTLED_BY_NOW_MS } from './reconcile.ts';

/** A block further ahead than this came from a chain with another time: its own limit is 15 s. */
const FUTURE_S = 15;

/** Updates the settlement metrics: ETH of the sending keys, payments with unknown outcome, and how far the chain's time is off. */
export async function watchSettlement(ctx: ChainContext): Promise<void> {
  const nowMs = ctx.clock.now().getTime();
  const { count, oldestAt } = await countUnknown(ctx.db, new Date(nowMs - SETTLED_BY_NOW_MS));
  ctx.metrics.unknownPayments.set(count);
  ctx.metrics.oldestUnknownSeconds.set(oldestAt ? (nowMs - oldestAt.getTime()) / 1000 : 0);
  ctx.metrics.heldPayouts.set(await countHeld(ctx.db));
  await watchChainTime(ctx);
  await ctx.settlementHalt.refresh();
  await ctx.gas.refresh();
  await ctx.gas.isCapReached();
}

/** The latest block is as old as the chain is slow; one of the future means that the clocks differ, and that authorizations expire early there. */
async function watchChainTime({ usdc, clock, metrics, log }: ChainContext): Promise<void> {
  const aheadS = clock.now().getTime() / 1000 - Number(await usdc.headTimeS());
  metrics.clockOffset.set({ reference: 'chain' }, Math.round(aheadS * 1000) / 1000);
  if (aheadS < -FUTURE_S)
    log.warn(
      { aheadS: Math.round(aheadS), remedy: 'docs/alerts.md#clockoff' },
      "the chain's latest block is of the future: the database's clock is behind; set it by NTP",
    );
}
