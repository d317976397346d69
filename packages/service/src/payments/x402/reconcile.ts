import type { HasSimulator } from '../authorize-payment.ts';
import { postTransfers } from '../ledger-store.ts';
import { owePayer, PAYOUT_WINDOW_S } from '../refund-payer.ts';
import { returnWithdrawal } from '../return-withdrawal.ts';
import type { ChainContext } from './chain-context.ts';
import type { ChainPayment } from './chain-payment.ts';
import { listFailedUnexpired, listOpenChainPayments, renewSignature } from './chain-payment-store.ts';
import type { RefusalReason } from './check-payment.ts';
import { endPayments } from './end-payments.ts';
import { findUseOf, toTransfer } from './record-mined.ts';
import type { HasSettler } from './settler.ts';
import { listUnmined, markMined } from './transaction-store.ts';

/** Younger payments are still in the hands of the process that took them; what the node owes, of nobody who waits. */
const SETTLED_BY_NOW_MS = 25_000;
const PAID_BY_NOW_MS = 5000;
const MINED_BY_NOW_MS = 4000;
const BATCH = 200;

export type ReconcileContext = ChainContext & HasSettler & HasSimulator;

/**
 * Brings to an end what a lost answer or a dead process left open: sends stored transactions again, and asks the chain about each
 * authorization. `graceMs` spares what a living process may still be working on.
 */
export async function reconcilePayments(ctx: ReconcileContext, graceMs = SETTLED_BY_NOW_MS): Promise<void> {
  await sendAgain(ctx);
  const nowMs = ctx.clock.now().getTime();
  const before = { in: new Date(nowMs - graceMs), out: new Date(nowMs - Math.min(graceMs, PAID_BY_NOW_MS)) };
  for (const payment of await listOpenChainPayments(ctx.db, before, BATCH)) await reconcilePayment(ctx, payment);
  await watchFailed(ctx);
}

/** Sends every transaction that no block has: a gap in the nonces would hold up all that come after it. */
async function sendAgain(ctx: ReconcileContext): Promise<void> {
  const key = { chainId: ctx.chain.chainId, signer: ctx.wallet.address };
  const before = new Date(ctx.clock.now().getTime() - MINED_BY_NOW_MS);
  for (const { hash, raw } of await listUnmined(ctx.db, key, before)) {
    const mined = await ctx.usdc.findMined(hash);
    if (mined) await markMined(ctx.db, hash, { number: mined.blockNumber, atS: mined.minedAtS });
    else await ctx.usdc.send(raw).catch((error) => ctx.log.warn({ err: error, hash }, 'could not send again'));
  }
}

/**
 * One open payment. It has expired when the chain's time says so, read before the authorization is looked at: from then on nobody
 * can use what was not used.
 */
export async function reconcilePayment(ctx: ReconcileContext, payment: ChainPayment): Promise<void> {
  const nowS = await ctx.usdc.headTimeS();
  const [isSpent] = await ctx.usdc.areSpent([payment.authorization]);
  if (isSpent) return endSpent(ctx, payment);
  const hasExpired = payment.authorization.validBeforeS <= nowS;
  const isOnItsWay = payment.transactionHash !== null && (await ctx.usdc.findMined(payment.transactionHash)) === null;
  if (hasExpired && payment.direction === 'out') return payAgain(ctx, payment, nowS);
  if (hasExpired) return endFailed(ctx, payment, 'invalid_exact_evm_payload_authorization_valid_before');
  if (!isOnItsWay) await settleAgain(ctx, payment);
}

/** Another try, if the token would let it pass now. What the node owes stays open until it does. */
async function settleAgain(ctx: ReconcileContext, payment: ChainPayment): Promise<void> {
  const refused = await ctx.simulator.simulate(payment);
  if (refused === null) void ctx.settler.settle(payment);
  else if (payment.direction === 'in') await endFailed(ctx, payment, 'invalid_exact_evm_transaction_failed');
  else ctx.log.error({ paymentId: payment.id, refused }, 'the node cannot pay what it owes');
}

async function endFailed(ctx: ReconcileContext, payment: ChainPayment, reason: RefusalReason): Promise<void> {
  const end = { id: payment.id, state: 'failed' as const, reason, transactionHash: null, blockNumber: null };
  await ctx.db.transaction((tx) => endPayments(tx, [payment], [end], ctx.clock.now()));
}

/**
 * The token pays a nonce once, so an expired transfer that was not used may be signed anew under the same nonce. A withdrawal that
 * the token would still refuse goes back to its treasury instead: what was signed can't move it any more.
 */
async function payAgain(ctx: ReconcileContext, payment: ChainPayment, nowS: bigint): Promise<void> {
  const authorization = { ...payment.authorization, validBeforeS: nowS + PAYOUT_WINDOW_S };
  const signature = ctx.wallet.signAuthorization(ctx.chain.domainSeparator, authorization);
  if (payment.purpose === 'withdrawal' && (await ctx.simulator.simulate({ authorization, signature })) !== null)
    return giveUp(ctx, payment);
  await renewSignature(ctx.db, payment.id, authorization.validBeforeS, signature);
  void ctx.settler.settle({ ...payment, authorization, signature });
}

async function giveUp(ctx: ReconcileContext, payment: ChainPayment): Promise<void> {
  const now = ctx.clock.now();
  const reason: RefusalReason = 'invalid_exact_evm_transaction_failed';
  await ctx.db.transaction(async (tx) => {
    const end = { id: payment.id, state: 'failed' as const, reason, transactionHash: null, blockNumber: null };
    const ended = await endPayments(tx, [payment], [end], now);
    if (ended.has(payment.id)) await returnWithdrawal(tx, payment, now);
  });
}

async function endSpent(ctx: ReconcileContext, payment: ChainPayment): Promise<void> {
  const use = await findUseOf(ctx, payment, await ctx.usdc.headBlock());
  const now = ctx.clock.now();
  await ctx.db.transaction(async (tx) => {
    // The node cancels nothing that it signed: what is spent of its own was paid, however long ago.
    const paid =
      use ?? (payment.direction === 'out' ? { transactionHash: payment.transactionHash, blockNumber: null } : null);
    const end = paid
      ? {
          state: 'settled' as const,
          reason: null,
          transactionHash: paid.transactionHash,
          blockNumber: paid.blockNumber,
        }
      : {
          state: 'failed' as const,
          reason: 'invalid_exact_evm_nonce_already_used',
          transactionHash: null,
          blockNumber: null,
        };
    const ended = await endPayments(tx, [payment], [{ id: payment.id, ...end }], now);
    if (paid && ended.has(payment.id)) await postTransfers(tx, [toTransfer(payment)], now);
  });
}

/**
 * A payment that failed here can still be submitted by anyone who saw it, until it expires. When that happens the money is
 * ours and the work was not done: it is credited to the payer and goes straight back.
 */
async function watchFailed(ctx: ReconcileContext): Promise<void> {
  const failed = await listFailedUnexpired(ctx.db, Number(await ctx.usdc.headTimeS()), BATCH);
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
  await ctx.db.transaction(async (tx) => {
    const end = { id: payment.id, state: 'settled' as const, reason: null, ...use };
    const ended = await endPayments(tx, [payment], [end], now);
    if (!ended.has(payment.id)) return;
    await postTransfers(tx, [toTransfer(payment)], now);
    if (payment.purpose !== 'invocation' || !payment.accountId) return;
    await owePayer(ctx, tx, {
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
}
