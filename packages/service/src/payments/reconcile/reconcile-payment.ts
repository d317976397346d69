import { openHashesOfNonce } from '../../chain/transaction-store.ts';
import { isUsedBefore } from '../../chain/usdc-client.ts';
import type { ChainContext } from '../chain-outbox/chain-context.ts';
import type { ChainPayment } from '../chain-outbox/chain-payment.ts';
import { renewSignatures } from '../chain-outbox/chain-payment-store.ts';
import { failPayment, failRefused } from '../chain-outbox/end-payments.ts';
import { hasExpiredForGood } from '../chain-outbox/find-fate.ts';
import { holdRefused } from '../chain-outbox/hold-payout.ts';
import { returnWithdrawal } from '../payouts/hold-withdrawal.ts';
import type { ChannelServices } from '../schemes/batch-settlement/channel-services.ts';
import type { PaymentChecks } from '../schemes/exact/payment-checks.ts';
import { endSpent } from '../settlement/end-spent.ts';
import { refusalOfNode } from '../settlement/payment-simulator.ts';
import type { Settler } from '../settlement/settler.ts';
import { signPayout } from '../settlement/sign-payout.ts';

export interface ReconcilePaymentContext
  extends ChainContext,
    Pick<PaymentChecks, 'simulator'>,
    Pick<ChannelServices, 'walletFunds'> {
  readonly settler: Settler;
}

/**
 * Reconciles one open payment. Expiry is judged by the time of the block at which the authorization is checked: one that is unused after it
 * has expired can no longer be used.
 */
export async function reconcilePayment(ctx: ReconcilePaymentContext, payment: ChainPayment): Promise<void> {
  const head = await ctx.usdc.head();
  const isSpent = await ctx.usdc.isSpent(payment.authorization, head.number);
  if (isSpent) await endSpent(ctx, payment);
  else await reconcileUnspent(ctx, payment, head.timeS);
}

/** Handles a payment with an unspent authorization. `nowS` is the time of the block in which that was read. */
export async function reconcileUnspent(
  ctx: ReconcilePaymentContext,
  payment: ChainPayment,
  nowS: bigint,
): Promise<void> {
  const hasExpired = payment.authorization.validBeforeS <= nowS;
  if (hasExpired && payment.direction === 'out') return payAgain(ctx, payment, nowS);
  if (hasExpired) await failPayment(ctx, payment, 'invalid_exact_evm_payload_authorization_valid_before');
  else if (!(await isOnItsWay(ctx, payment))) await settleAgain(ctx, payment);
}

/** True if a pending transaction carries the payment, at any fee. */
export async function isOnItsWay(ctx: ChainContext, { transactionHash }: ChainPayment): Promise<boolean> {
  if (transactionHash === null) return false;
  const hashes = await openHashesOfNonce(ctx.db, transactionHash);
  return hashes.length > 0 && (await ctx.usdc.findMined(hashes)) === null;
}

/**
 * Settles the payment again if the token would accept it now. Payments that the node owes are held until it does; one that is refused
 * through no fault of its payer stays open until it expires.
 */
async function settleAgain(ctx: ReconcilePaymentContext, payment: ChainPayment): Promise<void> {
  if (payment.direction === 'out') await ctx.walletFunds.ensure(0n);
  const refused = await ctx.simulator.simulate(payment);
  if (refused === null) return void ctx.settler.settle(payment);
  // The simulation may have failed because the payment was mined in the meantime.
  const isSpent = await ctx.usdc.isSpent(payment.authorization);
  if (isSpent) await endSpent(ctx, payment);
  else if (payment.direction === 'out') await holdRefused(ctx, payment, refused);
  else if ((await refusalOfNode(ctx, payment, refused)) === null)
    await failRefused(ctx, payment, 'invalid_exact_evm_transaction_failed');
}

/**
 * Signs an expired, unused payout again under the same nonce, which the token pays once. A payout of a former wallet has another nonce
 * there, so the current wallet signs it only after it has expired for good. A withdrawal that the token still refuses returns to its
 * treasury, unless another process has signed it again. Other refused payouts are held, unsigned. One refused as already used is paid, and
 * stays open until the chain shows it.
 */
export async function payAgain(ctx: ReconcilePaymentContext, payment: ChainPayment, nowS: bigint): Promise<void> {
  const { address } = ctx.wallet;
  if (payment.authorization.from !== address && !(await hasExpiredForGood(ctx, payment))) return;
  const signed = { ...payment, ...(await signPayout(ctx, payment, nowS)) };
  const mayEnd = payment.purpose === 'withdrawal' && payment.lostAt === null;
  await ctx.walletFunds.ensure(0n);
  const refused = await ctx.simulator.simulate(signed);
  if (refused !== null && isUsedBefore(refused)) {
    // A restored database has forgotten that the wallet of now has signed it: the next look finds it under that name.
    if (payment.authorization.from !== address) await renewSignatures(ctx.db, [{ before: payment, after: signed }]);
    return;
  }
  if (refused !== null && !mayEnd) return holdRefused(ctx, payment, refused);
  if (refused !== null) {
    const { validBeforeS } = payment.authorization;
    await failPayment(ctx, payment, 'invalid_exact_evm_transaction_failed', {
      alongside: (tx, now) => returnWithdrawal(tx, payment, now),
      isStill: (_tx, status) => status.validBeforeS === validBeforeS,
    });
    return;
  }
  // Another process may have returned the withdrawal meanwhile: a page of payments is worked off for seconds.
  const stored = await renewSignatures(ctx.db, [{ before: payment, after: signed }]);
  if (stored.has(payment.id)) void ctx.settler.settle(signed);
}
