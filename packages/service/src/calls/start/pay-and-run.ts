import { onToken, requireNetwork } from '../../chain/networks.ts';
import { createBatcher } from '../../lib/concurrency/batcher.ts';
import { until } from '../../lib/concurrency/until.ts';
import type { ChainPayment, NewChainPayment } from '../../payments/chain-outbox/chain-payment.ts';
import type { Purchases } from '../../payments/chain-outbox/purchases.ts';
import { type RefusalReason, refusalText } from '../../payments/chain-outbox/refusal-reason.ts';
import { holdAtLoss } from '../../payments/ledger/hold-money.ts';
import { type ReconcilePaymentContext, reconcilePayment } from '../../payments/reconcile/reconcile-payment.ts';
import { paymentOf } from '../../payments/schemes/exact/claim-payments.ts';
import type { SettleOutcome } from '../../payments/settlement/record-mined.ts';
import type { Carrier } from '../../payments/settlement/settler.ts';
import type { Store } from '../../store/database.ts';
import { isRolledBack } from '../../store/database-away.ts';
import type { CallServices } from '../call-services.ts';
import { holdsOf, type Invocation } from '../invocation.ts';
import { beginInvocations, beginPaid, findInvocation } from '../invocation-store.ts';
import { type RunContext, runFound } from '../run/run-invocation.ts';

export interface PayContext extends RunContext, CallServices, ReconcilePaymentContext {
  readonly beginner: Beginner;
}

/** The reconciler decides an unknown settlement at the latest when the authorization has expired. */
const DECIDED_WITHIN_MS = 24 * 3_600_000;

/** This process is not on the network of the payment: another one settles it. */
const notHere: SettleOutcome = { state: 'unknown', transactionHash: null };

/** Settles the payment of an invocation, then runs it. The invocation ends for any outcome of the payment. */
export async function payAndRun(
  ctx: PayContext,
  invocation: Invocation,
  { payment, carrier = null }: { readonly payment: NewChainPayment; readonly carrier?: Carrier | null },
  signal: AbortSignal,
): Promise<Invocation> {
  const outcome: SettleOutcome = (await onToken(ctx, payment)?.settler.settle(payment, carrier)) ?? notHere;
  return runPaid(ctx, invocation, outcome.state === 'unknown' ? await decide(ctx, invocation) : outcome, signal);
}

/** Resumes an invocation that a dead process left with a payment in any state. */
export async function resumePaid(ctx: PayContext, invocation: Invocation, signal: AbortSignal): Promise<Invocation> {
  const payment = await paymentOf(ctx, invocation.id);
  if (payment?.state === 'claimed') return payAndRun(ctx, invocation, { payment }, signal);
  return runPaid(ctx, invocation, await decide(ctx, invocation), signal);
}

async function runPaid(
  ctx: PayContext,
  invocation: Invocation,
  outcome: SettleOutcome,
  signal: AbortSignal,
): Promise<Invocation> {
  if (outcome.state === 'unknown') return invocation;
  if (outcome.state === 'failed')
    return ctx.finisher.finish({
      invocation,
      outcome: { kind: 'failed', reason: 'payment_failed', message: refusalText[outcome.reason] },
    });
  const looking = ctx.agentFinder.find(invocation.agentId);
  looking.catch(() => undefined);
  const begun = await findBegun(ctx, invocation, outcome.transactionHash);
  ctx.changeHub.changed(invocation.id);
  if (begun) {
    await ctx.runner.enter(begun, signal);
    return runFound(ctx, begun, await looking, signal);
  }
  const found = (await findInvocation(ctx.db, invocation.id)) ?? invocation;
  // Neither taken over nor ended: its payment was taken for failed, came in late, and was given back.
  if (found.status !== 'pending' || found.attempt !== invocation.attempt) return found;
  return ctx.finisher.finish({ invocation: found, outcome: givenBack });
}

/** The request, which began with the record of its payment; null: taken over, ended, or its payment was given back. */
async function findBegun(ctx: PayContext, invocation: Invocation, paymentHash: string): Promise<Invocation | null> {
  const found = await findInvocation(ctx.db, invocation.id);
  if (found?.attempt !== invocation.attempt) return null;
  if (found.status === 'processing') return found;
  return ctx.beginner.begin({ invocation: found, paymentHash });
}

const givenBack = {
  kind: 'failed',
  reason: 'payment_failed',
  message: 'The payment was taken for failed before it came in. It was given back.',
} as const;

/** Reason for a request without a payment row, possible in a restored database. After its deadline there is nothing to wait for. */
const LOST: RefusalReason = 'invalid_exact_evm_transaction_failed';

/** Polls the chain about an open payment until it is settled or failed. */
async function decide(ctx: PayContext, { id: requestId, deadline }: Invocation): Promise<SettleOutcome> {
  const decided = await until<SettleOutcome>(
    async () => {
      if (ctx.runner.signal.aborted) return { state: 'unknown', transactionHash: null };
      const payment = await lookAgain(ctx, requestId);
      if (payment?.state === 'settled' && payment.transactionHash)
        return { state: 'settled', transactionHash: payment.transactionHash };
      if (payment === null && deadline <= ctx.clock.now())
        return (await paymentOf(ctx, requestId)) === null ? { state: 'failed', reason: LOST } : null;
      return payment?.state === 'failed' || payment?.state === 'reversed'
        ? { state: 'failed', reason: payment.reason as RefusalReason }
        : null;
    },
    { timeoutMs: DECIDED_WITHIN_MS, firstMs: 50, maxMs: 2000 },
  );
  return decided ?? { state: 'unknown', transactionHash: null };
}

/** The payment after a look-up on chain; null while chain or database do not answer. */
async function lookAgain(ctx: PayContext, requestId: string): Promise<ChainPayment | null> {
  try {
    const payment = await paymentOf(ctx, requestId);
    if (payment?.state !== 'claimed' && payment?.state !== 'broadcasting') return payment;
    await reconcilePayment(requireNetwork(onToken(ctx, payment)), payment);
    return await paymentOf(ctx, requestId);
  } catch (error) {
    ctx.log.warn({ err: error, requestId }, 'open payment lookup failed');
    return null;
  }
}

interface Begin {
  readonly invocation: Invocation;
  readonly paymentHash: string;
}

/** Moves invocations to `processing` after their x402 payment has settled. */
interface Beginner {
  /** The invocation in its new state; null when it was taken over, has ended, or its payment was given back. */
  begin(begin: Begin): Promise<Invocation | null>;
}

const MAX_BATCH = 100;

/**
 * Begins requests that a process of an earlier version recorded as settled without beginning them. State and hold change in one
 * transaction. If the reversal of another payment took the account's money, the missing amount is the node's loss: this payment did arrive.
 */
export function createBeginner(ctx: Store): Beginner {
  const batcher = createBatcher<Begin, Invocation | null>({
    maxSize: MAX_BATCH,
    canSplit: isRolledBack,
    run: async (items) => {
      const now = ctx.clock.now();
      const moved = await ctx.db.transaction(async (tx) => {
        const begins = items.map(({ invocation, paymentHash }) => ({ ...invocation, paymentHash }));
        const ids = await beginInvocations(tx, begins, now);
        const begun = begins.filter(({ id }) => ids.has(id));
        await holdAtLoss(tx, holdsOf(begun), now);
        return ids;
      });
      return items.map(({ invocation, paymentHash }) =>
        moved.has(invocation.id) ? { ...invocation, paymentHash, status: 'processing', startedAt: now } : null,
      );
    },
  });
  return { begin: (begin) => batcher.add(begin) };
}

/** Begins requests in the transactions that record their payments: one is `processing` if and only if its hold exists. */
export const purchases: Purchases = {
  begin: async (tx, paid, now) => holdsOf(await beginPaid(tx, paid, now)),
};
