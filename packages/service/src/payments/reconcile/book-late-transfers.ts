import { readDepths } from '../../chain/block-depths.ts';
import { depthFor } from '../../chain/confirmation-depth.ts';
import { type LateTransfer, listLate, takeTransfer } from '../../chain/transfer-point-store.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import type { ChainContext } from '../onchain/chain-context.ts';
import { findById } from '../onchain/chain-payment-store.ts';
import { bookLate } from './book-late.ts';

const MAX_AT_ONCE = 200;

/**
 * Books transfers that the transfer reader saw for payments recorded as failed. The reconciler watches such payments until they expire;
 * this catches what it missed because no process ran then or a reorg moved it, as the reader skips no block.
 */
export async function bookLateTransfers(ctx: ChainContext): Promise<void> {
  const late = await listLate(ctx.db, ctx.chain.chainId, MAX_AT_ONCE);
  const isAsDeep = await readDepths(ctx.usdc, late);
  for (const transfer of late.filter((each) => isAsDeep(each, depthFor(ctx.confirmations, each.valueMicro))))
    await book(ctx, transfer).catch((error) =>
      ctx.log.warn({ err: error, paymentId: transfer.paymentId }, 'cannot book late payment'),
    );
}

async function book(ctx: ChainContext, late: LateTransfer): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    const transfer = await takeTransfer(tx, ctx.chain.chainId, late);
    const payment = transfer && (await findById(tx, late.paymentId));
    if (payment) await bookLate(ctx, tx, payment, transfer);
    failpoint('before-credit-unshown-commit');
  });
  failpoint('after-credit-unshown-commit');
}
