import { openHashesOfNonce } from '../../chain/transaction-store.ts';
import type { ChainContext } from '../onchain/chain-context.ts';
import type { ChainPayment } from '../onchain/chain-payment.ts';
import { renewSignature } from '../onchain/chain-payment-store.ts';
import { failPayment } from '../onchain/end-payments.ts';
import { PAYOUT_WINDOW_S } from '../payouts/refund-payer.ts';
import { returnWithdrawal } from '../payouts/return-withdrawal.ts';
import { endSpent } from '../settlement/end-spent.ts';
import type { HasSimulator } from '../settlement/payment-simulator.ts';
import type { HasSettler } from '../settlement/settler.ts';

export type ReconcilePaymentContext = ChainContext & HasSettler & HasSimulator;

/**
 * One open payment. It has expired when the chain's time says so, read before the authorization is looked at: from then on nobody
 * can use what was not used.
 */
export async function reconcilePayment(ctx: ReconcilePaymentContext, payment: ChainPayment): Promise<void> {
  const nowS = await ctx.usdc.headTimeS();
  const [isSpent] = await ctx.usdc.areSpent([payment.authorization]);
  if (isSpent) await endSpent(ctx, payment);
  else await reconcileUnspent(ctx, payment, nowS);
}

/** `nowS`: the chain's time, read before it was seen that the authorization is not spent. */
export async function reconcileUnspent(
  ctx: ReconcilePaymentContext,
  payment: ChainPayment,
  nowS: bigint,
): Promise<void> {
  const hasExpired = payment.authorization.validBeforeS <= nowS;
  if (hasExpired && payment.direction === 'out') return payAgain(ctx, payment, nowS);
  if (hasExpired) return failPayment(ctx, payment, 'invalid_exact_evm_payload_authorization_valid_before');
  if (!(await isOnItsWay(ctx, payment))) await settleAgain(ctx, payment);
}

/** Whether a transaction carries it that no block has, at whatever fee it was signed last. */
export async function isOnItsWay(ctx: ChainContext, { transactionHash }: ChainPayment): Promise<boolean> {
  if (transactionHash === null) return false;
  const hashes = await openHashesOfNonce(ctx.db, transactionHash);
  return hashes.length > 0 && (await ctx.usdc.findMined(hashes)) === null;
}

/** Another try, if the token would let it pass now. What the node owes stays open until it does. */
async function settleAgain(ctx: ReconcilePaymentContext, payment: ChainPayment): Promise<void> {
  const refused = await ctx.simulator.simulate(payment);
  if (refused === null) return void ctx.settler.settle(payment);
  // It may have gone through since it was asked about, and been refused for that.
  const [isSpent] = await ctx.usdc.areSpent([payment.authorization]);
  if (isSpent) await endSpent(ctx, payment);
  else if (payment.direction === 'in') await failPayment(ctx, payment, 'invalid_exact_evm_transaction_failed');
  else ctx.log.error({ paymentId: payment.id, refused }, 'token refuses an outgoing payment of the node');
}

/**
 * The token pays a nonce once, so an expired transfer that was not used may be signed anew under the same nonce. A withdrawal that
 * the token would still refuse goes back to its treasury instead: what was signed can't move it any more.
 */
export async function payAgain(ctx: ReconcilePaymentContext, payment: ChainPayment, nowS: bigint): Promise<void> {
  const authorization = { ...payment.authorization, validBeforeS: nowS + PAYOUT_WINDOW_S };
  const signature = ctx.wallet.signAuthorization(ctx.chain.domainSeparator, authorization);
  const isGivenUp =
    payment.purpose === 'withdrawal' &&
    payment.lostAt === null &&
    (await ctx.simulator.simulate({ authorization, signature })) !== null;
  if (isGivenUp) {
    const returned = failPayment(ctx, payment, 'invalid_exact_evm_transaction_failed', (tx, now) =>
      returnWithdrawal(tx, payment, now),
    );
    return returned;
  }
  await renewSignature(ctx.db, payment.id, authorization.validBeforeS, signature);
  void ctx.settler.settle({ ...payment, authorization, signature });
}
