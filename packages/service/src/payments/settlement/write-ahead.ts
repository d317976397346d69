import type { Hex } from 'viem';
import type { Lease } from '../../chain/keys/lease.ts';
import { settlementCall } from '../../chain/settlement-call.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import type { ChainContext } from '../onchain/chain-context.ts';
import type { NewChainPayment } from '../onchain/chain-payment.ts';
import { markBroadcasting } from '../onchain/chain-payment-store.ts';
import { type OpenTransaction, openTransaction } from '../onchain/open-transaction.ts';

/** Some of the payments have ended since they were read, as a payout that was credited here: nothing is written, and nothing is sent. */
class EndedMeanwhileError extends Error {
  readonly openIds: ReadonlySet<string>;

  constructor(openIds: ReadonlySet<string>) {
    super('payments of the batch have ended meanwhile');
    this.openIds = openIds;
  }
}

/**
 * Takes a free key and its next nonce and stores the signed transaction that will carry the payments, in one commit: if the process dies,
 * another can continue from it. Payments that have ended are left out; throws when all have. Null when no free key can pay the gas.
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
  const ids = payments.map(({ id }) => id);
  const write = ctx.db.transaction(async (tx) => {
    const note = async (hash: string) => {
      const openIds = await markBroadcasting(tx, ids, hash);
      if (openIds.size < ids.length) throw new EndedMeanwhileError(openIds);
    };
    const open = await openTransaction(ctx, tx, { signers, call, fees, lease, note });
    failpoint('before-write-ahead-commit');
    return open;
  });
  const written = await write.catch((error: unknown) => {
    const left = error instanceof EndedMeanwhileError ? payments.filter(({ id }) => error.openIds.has(id)) : [];
    if (left.length === 0 || left.length === payments.length) throw error;
    return left;
  });
  if (Array.isArray(written)) return writeAhead(ctx, written, lease, gas);
  failpoint('after-write-ahead-commit');
  if (written) ctx.gas.spend(written.signer, costWei);
  return written;
}
