import { postTransfers } from '../ledger-store.ts';
import { owePayer, PAYOUT_WINDOW_S } from '../refund-payer.ts';
import type { ChainPayment } from './chain-payment.ts';
import { endChainPayments, listFailedUnexpired, listOpenChainPayments, renewSignature } from './chain-payment-store.ts';
import { findUseOf, recordMined, toTransfer } from './record-mined.ts';
import type { ChainContext, HasSettler } from './settler.ts';
import { listUnmined } from './transaction-store.ts';

/** Younger payments are still in the hands of the process that took them. */
const SETTLED_BY_NOW_MS = 25_000;
const BATCH = 200;

type ReconcileContext = ChainContext & HasSettler;

/**
 * Brings to an end what a lost answer or a dead process left open: sends stored transactions again, reads receipts, and asks the
 * chain about each authorization. `graceMs` spares what a living process may still be working on.
 */
export async function reconcilePayments(ctx: ReconcileContext, graceMs = SETTLED_BY_NOW_MS): Promise<void> {
  const open = await listOpenChainPayments(ctx.db, new Date(ctx.clock.now().getTime() - graceMs), BATCH);
  if (open.length > 0) {
    await sendAgain(ctx);
    for (const payment of open) await reconcileOne(ctx, payment);
  }
  await watchFailed(ctx);
}

/** Sends every transaction that no block has: a gap in the nonces would hold up all that come after it. */
async function sendAgain(ctx: ReconcileContext): Promise<void> {
  const key = { chainId: ctx.chain.chainId, signer: ctx.wallet.address };
  for (const transaction of await listUnmined(ctx.db, key)) {
    if (await ctx.usdc.findMined(transaction.hash)) continue;
    await ctx.usdc
      .send(transaction.raw)
      .catch((error) => ctx.log.warn({ err: error, hash: transaction.hash }, 'could not send again'));
  }
}

async function reconcileOne(ctx: ReconcileContext, payment: ChainPayment): Promise<void> {
  const mined = payment.transactionHash ? await ctx.usdc.findMined(payment.transactionHash) : null;
  if (mined && payment.transactionHash) {
    await recordMined(ctx, [payment], payment.transactionHash, mined);
    return;
  }
  const [isSpent] = await ctx.usdc.areSpent([payment.authorization]);
  if (isSpent) return endSpent(ctx, payment);
  const nowS = BigInt(Math.floor(ctx.clock.now().getTime() / 1000));
  if (payment.authorization.validBeforeS > nowS) {
    if (payment.state === 'claimed') void ctx.settler.settle(payment);
    return;
  }
  if (payment.direction === 'in') {
    const reason = 'invalid_exact_evm_payload_authorization_valid_before';
    const end = { id: payment.id, state: 'failed' as const, reason, transactionHash: null, blockNumber: null };
    await endChainPayments(ctx.db, [end], ctx.clock.now());
    return;
  }
  await payAgain(ctx, payment, nowS);
}

/** The token pays a nonce once, so an expired transfer that was not used may be signed anew under the same nonce. */
async function payAgain(ctx: ReconcileContext, payment: ChainPayment, nowS: bigint): Promise<void> {
  const authorization = { ...payment.authorization, validBeforeS: nowS + PAYOUT_WINDOW_S };
  const signature = ctx.wallet.signAuthorization(ctx.chain.domainSeparator, authorization);
  await renewSignature(ctx.db, payment.id, authorization.validBeforeS, signature);
  void ctx.settler.settle({ ...payment, authorization, signature });
}

async function endSpent(ctx: ReconcileContext, payment: ChainPayment): Promise<void> {
  const use = await findUseOf(ctx, payment, await ctx.usdc.headBlock());
  const now = ctx.clock.now();
  await ctx.db.transaction(async (tx) => {
    const end = use
      ? { state: 'settled' as const, reason: null, transactionHash: use.transactionHash, blockNumber: use.blockNumber }
      : {
          state: 'failed' as const,
          reason: 'invalid_exact_evm_nonce_already_used',
          transactionHash: null,
          blockNumber: null,
        };
    const ended = await endChainPayments(tx, [{ id: payment.id, ...end }], now);
    if (use && ended.has(payment.id)) await postTransfers(tx, [toTransfer(payment)], now);
  });
}

/**
 * A payment that failed here can still be submitted by anyone who saw it, until it expires. When that happens the money is
 * ours and the work was not done: it is credited to the payer and goes straight back.
 */
async function watchFailed(ctx: ReconcileContext): Promise<void> {
  const nowS = Math.floor(ctx.clock.now().getTime() / 1000);
  const failed = await listFailedUnexpired(ctx.db, nowS, BATCH);
  if (failed.length === 0) return;
  const spent = await ctx.usdc.areSpent(failed.map((payment) => payment.authorization));
  for (const payment of failed.filter((_, index) => spent[index])) {
    const use = await findUseOf(ctx, payment, await ctx.usdc.headBlock());
    if (use) await giveBackLate(ctx, payment, use);
  }
}

async function giveBackLate(
  ctx: ReconcileContext,
  payment: ChainPayment,
  use: { transactionHash: string; blockNumber: bigint },
): Promise<void> {
  const now = ctx.clock.now();
  const refund = await ctx.db.transaction(async (tx) => {
    const ended = await endChainPayments(tx, [{ id: payment.id, state: 'settled', reason: null, ...use }], now);
    if (!ended.has(payment.id)) return null;
    await postTransfers(tx, [toTransfer(payment)], now);
    if (payment.purpose !== 'invocation' || !payment.accountId) return null;
    return owePayer(ctx, tx, {
      requestId: payment.subjectId,
      accountId: payment.accountId,
      ledgerAccountId: payment.ledgerAccountId,
      address: payment.authorization.from,
      amountMicro: payment.authorization.valueMicro,
    });
  });
  ctx.log.warn(
    { paymentId: payment.id, hash: use.transactionHash },
    'a payment that had failed landed after all; it goes back',
  );
  if (refund) void ctx.settler.settle(refund);
}
