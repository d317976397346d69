import type { ChainAccess } from '../../chain/chain-access.ts';
import type { NodeIdentity } from '../../chain/chain-info.ts';
import { onToken } from '../../chain/networks.ts';
import type { Store } from '../../store/database.ts';
import type { ChainContext } from '../chain-outbox/chain-context.ts';
import type { ChainPayment } from '../chain-outbox/chain-payment.ts';
import { forEachPage, listOpenBills } from '../chain-outbox/chain-payment-list-store.ts';
import { findBySubject } from '../chain-outbox/chain-payment-store.ts';
import { endSpent } from '../settlement/end-spent.ts';

/** Time after its expiry, on the chain's clock, at which a bill counts as unused: no reorg brings back a block that old. */
const UNUSED_AFTER_S = 60n;

/**
 * Checks every signed, open bill on chain. A collected bill is booked; one that can no longer be collected is passed to `giveUp`, which may
 * defer it. Time and authorizations are read at one block: one that was unused after its expiry stays unused.
 */
export const watchBills = (ctx: ChainContext, giveUp: (bill: ChainPayment) => Promise<void>): Promise<void> =>
  forEachPage(
    (after, limit) => listOpenBills(ctx.db, ctx.chain, after, limit),
    async (bills) => {
      const head = await ctx.usdc.head();
      const spent = await ctx.usdc.areSpent(
        bills.map(({ authorization }) => authorization),
        head.number,
      );
      const look = async (bill: ChainPayment, isSpent: boolean | null) => {
        if (isSpent) await endSpent(ctx, bill);
        else if (isSpent === false && bill.authorization.validBeforeS + UNUSED_AFTER_S <= head.timeS)
          await giveUp(bill);
      };
      for (const [index, bill] of bills.entries())
        await look(bill, spent[index] ?? null).catch((error) =>
          ctx.log.warn({ err: error, paymentId: bill.id }, 'cannot check bill'),
        );
    },
  );

/** True if the agent has collected a request's bill, by the books or by the newest block; false if neither shows it. */
export async function isCollected(ctx: Store & NodeIdentity & ChainAccess, requestId: string): Promise<boolean> {
  const bill = await findBySubject(ctx.db, requestId, 'bill');
  if (bill?.state === 'settled') return true;
  const usdc = bill && onToken(ctx, bill)?.usdc;
  const isSpent = bill && usdc && (await usdc.isSpent(bill.authorization).catch(() => null));
  return isSpent === true;
}
