import type { HasUsdc } from '../../chain/usdc-client.ts';
import type { ChainPayment } from './chain-payment.ts';
import type { PaymentPlace } from './chain-payment-store.ts';
import { findFate } from './find-fate.ts';

/** Deposits by plain transfer were credited after they had happened: nobody can submit them again. */
export const isPlain = ({ direction, authorization }: ChainPayment): boolean =>
  direction === 'in' && authorization.validBeforeS === 0n;

/** The block that has a settled payment now; null when none has. That its transaction is in a block is no proof: it may have failed there. */
export async function findPlace(ctx: HasUsdc, payment: ChainPayment): Promise<PaymentPlace | null> {
  const { authorization, transactionHash } = payment;
  const [isSpent] = await ctx.usdc.areSpent([authorization]);
  if (isSpent) {
    const fate = await findFate(ctx, payment, payment.createdAt);
    return fate?.kind === 'paid' ? fate.place : null;
  }
  if (!isPlain(payment) || transactionHash === null) return null;
  const mined = await ctx.usdc.findMined([transactionHash]);
  return mined?.moved(authorization)
    ? { transactionHash: mined.hash, blockNumber: mined.blockNumber, blockHash: mined.blockHash }
    : null;
}
