import type { ChainPayment } from './chain-payment.ts';
import type { PaymentPlace } from './chain-payment-store.ts';
import { findFate } from './find-fate.ts';
import type { HasUsdc } from './usdc-client.ts';

/** Deposits by plain transfer were credited after they had happened: nobody can submit them again. */
export const isPlain = ({ direction, authorization }: ChainPayment): boolean =>
  direction === 'in' && authorization.validBeforeS === 0n;

/** The block that has a settled payment now; null when none has. */
export async function findPlace(ctx: HasUsdc, payment: ChainPayment): Promise<PaymentPlace | null> {
  if (isPlain(payment)) {
    const mined = payment.transactionHash && (await ctx.usdc.findMined([payment.transactionHash]));
    return mined ? { transactionHash: mined.hash, blockNumber: mined.blockNumber, blockHash: mined.blockHash } : null;
  }
  const [isSpent] = await ctx.usdc.areSpent([payment.authorization]);
  const fate = isSpent ? await findFate(ctx, payment, payment.createdAt) : null;
  return fate?.kind === 'paid' ? fate.place : null;
}
