import type { ChainContext } from '../onchain/chain-context.ts';
import type { ChainPayment } from '../onchain/chain-payment.ts';
import { forEachPage, listOpenBills } from '../onchain/chain-payment-list-store.ts';
import { endSpent } from '../settlement/end-spent.ts';

/** On the chain's own clock, how long after its time a bill counts as unused: no reorg brings back a block as old as that. */
const UNUSED_AFTER_S = 60n;

/**
 * Asks the chain about every bill that was signed and has not ended. One that was collected is booked; one that can't be any more is
 * given to `giveUp`, which may leave it for later. The chain's time is read before the authorizations: what was unused after its time
 * stays so.
 */
export const watchBills = (ctx: ChainContext, giveUp: (bill: ChainPayment) => Promise<void>): Promise<void> =>
  forEachPage(
    (after, limit) => listOpenBills(ctx.db, after, limit),
    async (bills) => {
      const nowS = await ctx.usdc.headTimeS();
      const spent = await ctx.usdc.areSpent(bills.map(({ authorization }) => authorization));
      const look = async (bill: ChainPayment, isSpent: boolean) => {
        if (isSpent) await endSpent(ctx, bill);
        else if (bill.authorization.validBeforeS + UNUSED_AFTER_S <= nowS) await giveUp(bill);
      };
      for (const [index, bill] of bills.entries())
        await look(bill, spent[index] ?? false).catch((error) =>
          ctx.log.warn({ err: error, paymentId: bill.id }, 'a bill could not be looked at'),
        );
    },
  );
