import type { Hex } from 'viem';
import type { Lease } from '../../chain/keys/lease.ts';
import { settlementCall } from '../../chain/settlement-call.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import type { ChainContext } from '../onchain/chain-context.ts';
import type { NewChainPayment } from '../onchain/chain-payment.ts';
import { markBroadcasting } from '../onchain/chain-payment-store.ts';
import { type OpenTransaction, openTransaction } from '../onchain/open-transaction.ts';

/**
 * Takes a free key and its next nonce and stores the signed transaction that will carry the payments, in one commit: if the process dies,
 * another can continue from it. Null when no free key can pay the gas.
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
