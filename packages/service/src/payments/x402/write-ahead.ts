import type { Hex } from 'viem';
import { failpoint } from '../../lib/failpoint.ts';
import type { ChainContext } from './chain-context.ts';
import type { NewChainPayment } from './chain-payment.ts';
import { markBroadcasting } from './chain-payment-store.ts';
import type { Lease } from './lease.ts';
import { type OpenTransaction, openTransaction } from './open-transaction.ts';
import { settlementCall } from './settlement-call.ts';

/**
 * Takes a free key and its next nonce, and stores the signed transaction that will carry the payments, all in one commit: whoever
 * dies now leaves all that another needs to go on. Null when no key is free that can pay.
 */
export async function writeAhead(
  ctx: ChainContext,
  payments: readonly NewChainPayment[],
  lease: Lease,
  gas?: bigint,
): Promise<OpenTransaction | null> {
  const call = settlementCall(ctx.chain.token as Hex, payments, gas);
  const fees = await ctx.fees.current();
  const costWei = call.gas * fees.maxFeePerGas;
  const signers = ctx.gas.thatBear(costWei);
  const written = await ctx.db.transaction(async (tx) => {
    const ids = payments.map(({ id }) => id);
    const note = (hash: string) => markBroadcasting(tx, ids, hash);
    const open = await openTransaction(ctx, tx, { signers, call, fees, lease, note });
    failpoint('before-write-ahead-commit');
    return open;
  });
  failpoint('after-write-ahead-commit');
  if (written) ctx.gas.spend(written.signer, costWei);
  return written;
}
