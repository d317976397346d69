import type { HasDb } from '../../db/database.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import { findById } from '../onchain/chain-payment-store.ts';
import type { HasWalletFunds } from '../onchain/channel-claims.ts';
import type { HasSettler } from './settler.ts';

/**
 * Sends an outgoing payment that has not been sent; what the wallet lacks for it is claimed from channels first. One that is pending or
 * mined is left unchanged.
 */
export async function settleOwed(ctx: HasDb & HasSettler & HasWalletFunds, paymentId: string): Promise<void> {
  const payment = await findById(ctx.db, paymentId);
  failpoint('before-pay-owed');
  if (payment?.direction === 'out' && payment.state === 'claimed') {
    // The payment itself is one of the open payouts.
    await ctx.walletFunds.ensure(0n);
    await ctx.settler.settle(payment);
  }
  failpoint('after-pay-owed');
}
