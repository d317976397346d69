import type { Records } from '../../db/records.ts';
import type { HasLog } from '../../lib/log/log.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import { findById } from '../onchain/chain-payment-store.ts';
import type { HasWalletFunds } from '../onchain/channel-claims.ts';
import { holdRefused } from '../onchain/hold-payout.ts';
import type { HasSettlementHalt } from '../onchain/settlement-halt.ts';
import type { HasSimulator } from './payment-simulator.ts';
import type { HasSettler } from './settler.ts';

/** The way of a payout to the chain: what the wallet lacks, what the token says, the transaction. */
interface PayoutWay extends HasWalletFunds, HasSimulator, HasSettlementHalt, HasSettler {}

/**
 * Sends an outgoing payment that has not been sent; what the wallet lacks for it is claimed from channels first. One that the token refuses
 * is held, and its signature stays unknown to others. One that is pending or mined is left unchanged.
 */
export async function settleOwed(ctx: Records & HasLog & PayoutWay, paymentId: string): Promise<void> {
  const payment = await findById(ctx.db, paymentId);
  failpoint('before-pay-owed');
  if (payment?.direction === 'out' && payment.state === 'claimed') {
    // The payment itself is one of the open payouts.
    await ctx.walletFunds.ensure(0n);
    const refused = await ctx.simulator.simulate(payment);
    if (refused === null) await ctx.settler.settle(payment);
    else await holdRefused(ctx, payment, refused);
  }
  failpoint('after-pay-owed');
}
