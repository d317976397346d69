import type { HasDb } from '../../db/database.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import { findById } from '../onchain/chain-payment-store.ts';
import type { HasSettler } from './settler.ts';

/** Sends a payment of the node that nobody has sent yet. One that is on its way, or has arrived, is left alone. */
export async function settleOwed(ctx: HasDb & HasSettler, paymentId: string): Promise<void> {
  const payment = await findById(ctx.db, paymentId);
  failpoint('before-pay-owed');
  if (payment?.direction === 'out' && payment.state === 'claimed') await ctx.settler.settle(payment);
  failpoint('after-pay-owed');
}
