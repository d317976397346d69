import { deepestOf } from '../../chain/blocks/confirmation-depth.ts';
import type { ChainContext } from '../chain-outbox/chain-context.ts';
import type { ChainPayment } from '../chain-outbox/chain-payment.ts';
import { forEachPage, listFailedUnexpired, listOpenChainPayments } from '../chain-outbox/chain-payment-list-store.ts';
import { endSpent } from '../settlement/end-spent.ts';
import { bookIfPaidLate } from './book-late.ts';
import { recollectLost } from './recollect-lost.ts';
import { type ReconcilePaymentContext, reconcileUnspent } from './reconcile-payment.ts';
import { resendTransactions } from './resend-transactions.ts';
import type { ReorgWatch } from './watch-reorgs.ts';

/**
 * Age at which the reconciler takes over a payment. Younger ones belong to the process that claimed them; payouts have a shorter limit, as
 * no request waits for them.
 */
export const SETTLED_BY_NOW_MS = 25_000;
const PAID_BY_NOW_MS = 5000;
const UNTOLD = 'the RPC node does not tell whether the authorization is spent';

export interface ReconcileContext extends ReconcilePaymentContext {
  readonly reorgWatch: ReorgWatch;
}

/**
 * Completes payments and transactions left open by a lost answer, a dead process or a reorg: resends stored transactions and checks each
 * authorization on chain. `graceMs` excludes payments that a living process may still be working on. A failing step does not stop the
 * others. Returns false if a step failed, so that the run counts as failed.
 */
export async function reconcilePayments(ctx: ReconcileContext, graceMs = SETTLED_BY_NOW_MS): Promise<boolean> {
  const steps = [
    () => ctx.reorgWatch.look(),
    () => resendTransactions(ctx),
    () => reconcileOpen(ctx, graceMs),
    () => recollectLost(ctx),
    () => watchFailed(ctx),
  ];
  let isComplete = true;
  for (const step of steps)
    await step().catch((error) => {
      isComplete = false;
      ctx.log.error({ err: error }, 'reconciliation step failed; retrying');
    });
  if (!isComplete) ctx.metrics.recurringFailures.inc({ name: 'reconcile-payments' });
  return isComplete;
}

async function reconcileOpen(ctx: ReconcileContext, graceMs: number): Promise<void> {
  const now = ctx.clock.now();
  const nowMs = now.getTime();
  const before = { now, in: new Date(nowMs - graceMs), out: new Date(nowMs - Math.min(graceMs, PAID_BY_NOW_MS)) };
  await forEachPage(
    (after, limit) => listOpenChainPayments(ctx.db, ctx.chain, before, after, limit),
    async (payments) => {
      const head = await ctx.usdc.head();
      const spent = await ctx.usdc.areSpent(
        payments.map((payment) => payment.authorization),
        head.number,
      );
      const look = async (payment: ChainPayment, isSpent: boolean | null = null) => {
        if (isSpent === null) throw new Error(UNTOLD);
        if (isSpent) await endSpent(ctx, payment);
        else await reconcileUnspent(ctx, payment, head.timeS);
      };
      for (const [index, payment] of payments.entries())
        await look(payment, spent[index]).catch((error) =>
          ctx.log.warn({ err: error, paymentId: payment.id }, 'cannot check open payment'),
        );
    },
  );
}

/**
 * Checks failed incoming payments until they expire, because anyone who saw one can still submit it, and then until the blocks before the
 * expiry are deep enough.
 */
async function watchFailed(ctx: ChainContext): Promise<void> {
  const deepest = deepestOf(ctx.confirmations);
  const head = await ctx.usdc.headBlock();
  const sinceS = await ctx.usdc.timeOfS(head < deepest ? 0n : head - deepest);
  await forEachPage(
    (after, limit) => listFailedUnexpired(ctx.db, ctx.chain, sinceS ?? 0n, after, limit),
    async (payments) => {
      const spent = await ctx.usdc.areSpent(
        payments.map((payment) => payment.authorization),
        // Each page has a head of its own: a local chain knows the state of its newest blocks only.
        await ctx.usdc.headBlock(),
      );
      for (const payment of payments.filter((_, index) => spent[index]))
        await bookIfPaidLate(ctx, payment).catch((error) =>
          ctx.log.warn({ err: error, paymentId: payment.id }, 'cannot check failed payment'),
        );
    },
  );
}
