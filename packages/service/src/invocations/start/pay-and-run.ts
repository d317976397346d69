import { until } from '../../lib/concurrency/until.ts';
import type { ChainPayment, NewChainPayment } from '../../payments/onchain/chain-payment.ts';
import type { RefusalReason } from '../../payments/onchain/refusal-reason.ts';
import { refusalText } from '../../payments/onchain/refusal-reason.ts';
import { type ReconcilePaymentContext, reconcilePayment } from '../../payments/reconcile/reconcile-payment.ts';
import type { SettleOutcome } from '../../payments/settlement/record-mined.ts';
import { paymentOf } from '../../payments/x402/claim-payments.ts';
import type { Invocation } from '../invocation.ts';
import { findInvocation } from '../invocation-store.ts';
import type { HasRunner } from '../places/runner.ts';
import { type RunContext, runFound } from '../run/run-invocation.ts';
import type { HasBeginner } from './begin-invocations.ts';

export interface PayContext extends RunContext, HasRunner, HasBeginner, ReconcilePaymentContext {}

/** The reconciler decides an unknown settlement at the latest when the authorization has expired. */
const DECIDED_WITHIN_MS = 24 * 3_600_000;

/** Settles the payment of an invocation, then runs it. The invocation ends whatever becomes of the payment. */
export async function payAndRun(
  ctx: PayContext,
  invocation: Invocation,
  payment: NewChainPayment,
  signal: AbortSignal,
): Promise<Invocation> {
  const outcome = await ctx.settler.settle(payment);
  return runPaid(ctx, invocation, outcome.state === 'unknown' ? await decide(ctx, invocation) : outcome, signal);
}

/** Resumes an invocation whose payment was left in any state by a dead process. */
export async function resumePaid(ctx: PayContext, invocation: Invocation, signal: AbortSignal): Promise<Invocation> {
  const payment = await paymentOf(ctx, invocation.id);
  if (payment?.state === 'claimed') return payAndRun(ctx, invocation, payment, signal);
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

/** Of a request whose payment is in no row, as a restored database may have it: there is nothing to wait for after its deadline. */
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
    { timeoutMs: DECIDED_WITHIN_MS, firstMs: 50, mostMs: 2000 },
  );
  return decided ?? { state: 'unknown', transactionHash: null };
}

/** The payment after a look-up on chain; null while chain or database do not answer. */
async function lookAgain(ctx: PayContext, requestId: string): Promise<ChainPayment | null> {
  try {
    const payment = await paymentOf(ctx, requestId);
    if (payment?.state !== 'claimed' && payment?.state !== 'broadcasting') return payment;
    await reconcilePayment(ctx, payment);
    return await paymentOf(ctx, requestId);
  } catch (error) {
    ctx.log.warn({ err: error, requestId }, 'open payment lookup failed');
    return null;
  }
}
