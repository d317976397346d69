import { depthFor, isBuried } from '../../chain/blocks/confirmation-depth.ts';
import type { Tx } from '../../store/sql.ts';
import type { ChainContext } from '../chain-outbox/chain-context.ts';
import type { ChainPayment } from '../chain-outbox/chain-payment.ts';
import type { PaymentPlace } from '../chain-outbox/chain-payment-store.ts';
import { settlePayment } from '../chain-outbox/end-payments.ts';
import { findFate } from '../chain-outbox/find-fate.ts';
import { owePayer } from '../payouts/refund-payer.ts';

/** Books a payment recorded as failed if its authorization has moved the money since and is deep enough. */
export async function bookIfPaidLate(ctx: ChainContext, payment: ChainPayment): Promise<void> {
  const fate = await findFate(ctx, payment, payment.createdAt);
  if (fate?.kind !== 'paid') return;
  const { place } = fate;
  const depth = depthFor(ctx.confirmations, payment.authorization.valueMicro);
  if (!(await isBuried(ctx.usdc, place, depth))) return;
  await ctx.db.transaction((tx) => bookLate(ctx, tx, payment, place));
}

/**
 * Books, once and in the caller's transaction, a payment recorded as failed that was submitted after all. We have the money and the work
 * was not done: it is credited to the payer and refunded at once to the sending wallet; a deposit stays in its treasury.
 */
export async function bookLate(ctx: ChainContext, tx: Tx, payment: ChainPayment, place: PaymentPlace): Promise<void> {
  if (!(await settlePayment(tx, payment, place, ctx.clock.now(), { isLate: true }))) return;
  const { transactionHash: hash } = place;
  ctx.log.warn({ paymentId: payment.id, hash }, 'failed payment was mined after all; booked');
  if (payment.purpose !== 'invocation' || !payment.accountId) return;
  await owePayer(ctx, tx, {
    requestId: payment.subjectId,
    accountId: payment.accountId,
    ledgerAccountId: payment.ledgerAccountId,
    address: payment.authorization.from,
    amountMicro: payment.authorization.valueMicro,
  });
}
