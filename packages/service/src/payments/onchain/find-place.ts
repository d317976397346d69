import type { HasUsdc } from '../../chain/usdc-client.ts';
import type { ChainPayment } from './chain-payment.ts';
import type { PaymentPlace } from './chain-payment-store.ts';
import { findFate } from './find-fate.ts';

/** True for a deposit by plain transfer: credited after the fact, it cannot be submitted again. */
export const isPlain = ({ direction, authorization }: ChainPayment): boolean =>
  direction === 'in' && authorization.validBeforeS === 0n;

/** The current block of a settled payment; null when it has none. Its transaction being mined proves nothing: it may have failed there. */
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
