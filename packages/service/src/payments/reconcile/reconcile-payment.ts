import { authorizationDigest } from '../../chain/signatures/authorization.ts';
import { openHashesOfNonce } from '../../chain/transaction-store.ts';
import { isUsedBefore } from '../../chain/usdc-client.ts';
import type { ChainContext } from '../onchain/chain-context.ts';
import type { ChainPayment } from '../onchain/chain-payment.ts';
import { renewSignature } from '../onchain/chain-payment-store.ts';
import type { HasWalletFunds } from '../onchain/channel-claims.ts';
import { failPayment, failRefused } from '../onchain/end-payments.ts';
import { hasExpiredForGood } from '../onchain/find-fate.ts';
import { holdRefused } from '../onchain/hold-payout.ts';
import { PAYOUT_WINDOW_S } from '../payouts/refund-payer.ts';
import { returnWithdrawal } from '../payouts/return-withdrawal.ts';
import { endSpent } from '../settlement/end-spent.ts';
import type { HasSimulator } from '../settlement/payment-simulator.ts';
import { refusalOfNode } from '../settlement/refusal-cause.ts';
import type { HasSettler } from '../settlement/settler.ts';

export interface ReconcilePaymentContext extends ChainContext, HasSettler, HasSimulator, HasWalletFunds {}

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

/** `nowS`: the time of the block at whose end the authorization was unspent. */
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

/** True if a pending transaction carries the payment, at whatever fee it was last signed. */
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
 * Signs an expired, unused payout again under the same nonce, which the token pays once. What a former wallet signed, under whose name the
 * nonce is another one, is signed by the wallet of now once it has expired for good. A withdrawal that the token still refuses is
 * returned to its treasury instead: its expired signature can no longer move the money, unless another process has signed it again. Other
 * payouts are held, unsigned. One that is refused because it was used is paid, and is left open until the chain shows it.
 */
export async function payAgain(ctx: ReconcilePaymentContext, payment: ChainPayment, nowS: bigint): Promise<void> {
  const { address } = ctx.wallet;
  if (payment.authorization.from !== address && !(await hasExpiredForGood(ctx, payment))) return;
  const authorization = { ...payment.authorization, from: address, validBeforeS: nowS + PAYOUT_WINDOW_S };
  const signature = await ctx.wallet.signHash(authorizationDigest(ctx.chain.domainSeparator, authorization));
  const mayEnd = payment.purpose === 'withdrawal' && payment.lostAt === null;
  const refused = await ctx.simulator.simulate({ authorization, signature });
  if (refused !== null && isUsedBefore(refused)) {
    // A restored database has forgotten that the wallet of now has signed it: the next look finds it under that name.
    if (payment.authorization.from !== address) await renewSignature(ctx.db, payment.id, authorization, signature);
    return;
  }
  if (refused !== null && !mayEnd) return holdRefused(ctx, payment, refused);
  if (refused !== null) {
    const { validBeforeS } = payment.authorization;
    await failPayment(ctx, payment, 'invalid_exact_evm_transaction_failed', {
      alongside: (tx, now) => returnWithdrawal(tx, payment, now),
      isStill: (_tx, standing) => standing.validBeforeS === validBeforeS,
    });
    return;
  }
  // Another process may have returned the withdrawal meanwhile: a page of payments is worked off for seconds.
  const isOpen = await renewSignature(ctx.db, payment.id, authorization, signature);
  if (isOpen) void ctx.settler.settle({ ...payment, authorization, signature });
}
