import { whyStalled } from '../../chain/blocks/gates.ts';
import { onToken } from '../../chain/networks.ts';
import { within } from '../../lib/concurrency/within.ts';
import { newId } from '../../lib/id.ts';
import type { RefusalReason } from '../../payments/chain-outbox/refusal-reason.ts';
import { paymentOf } from '../../payments/schemes/exact/claim-payments.ts';
import { paymentPending, paymentRequired, type TermsContext } from '../../payments/x402/payment-required.ts';
import type { CallServices } from '../call-services.ts';
import { type Invocation, isAtRest } from '../invocation.ts';
import { findInvocation } from '../invocation-store.ts';
import type { ChangeHub, ChangeWatch } from '../stream/change-hub.ts';
import type { Invoked } from './invoke-input.ts';

type AwaitContext = TermsContext & CallServices;

/** Poll intervals for changes in other processes: each twice the one before. */
const FIRST_PAUSE_MS = 20;
const MAX_PAUSE_MS = 500;

/**
 * The invocation when it has ended or waits for an answer, or its state after `waitMs` or when this process ends. For one paid by x402, throws PAYMENT_REQUIRED when its payment certainly
 * moved nothing, and PAYMENT_PENDING while that is unknown.
 */
export async function awaitInvocation(ctx: AwaitContext, invoked: Invoked, waitMs: number): Promise<Invocation> {
  const invocation = isAtRest(invoked.invocation.status) ? invoked.invocation : await waitFor(ctx, invoked, waitMs);
  return requirePaid(ctx, invoked, invocation);
}

/** The current state of an invocation that was answered before; null: it has been removed. */
export const rereadInvocation = (ctx: AwaitContext, requestId: string): Promise<Invocation | null> =>
  findInvocation(ctx.db, requestId);

/**
 * The invocation once it is `processing` or has ended, or its state after `waitMs` or when this process ends; throws as `awaitInvocation`
 * does.
 */
export async function awaitBegun(ctx: AwaitContext, invoked: Invoked, waitMs: number): Promise<Invocation> {
  const { invocation, payment } = invoked;
  const hasBegun = ({ status }: Invocation) => status !== 'pending';
  const mustWait = payment && !hasBegun(invocation);
  return requirePaid(ctx, invoked, mustWait ? await watchUntil(ctx, invocation, hasBegun, waitMs) : invocation);
}

async function requirePaid(ctx: AwaitContext, invoked: Invoked, invocation: Invocation): Promise<Invocation> {
  if (!invoked.payment) return invocation;
  if (invocation.errorCode === 'payment_failed') {
    const payment = await paymentOf(ctx, invocation.id);
    const reason = (payment?.reason ?? 'invalid_exact_evm_transaction_failed') as RefusalReason;
    // The failed request keeps its id, even one derived from an Idempotency-Key.
    throw paymentRequired(ctx, { ...invoked.due, makeMemo: () => newId('req') }, reason);
  }
  if (invocation.status !== 'pending') return invocation;
  const payment = await paymentOf(ctx, invocation.id);
  throw paymentPending(
    invocation.id,
    payment?.transactionHash ?? null,
    await whyStalled(ctx, onToken(ctx, invoked.payment)?.chain ?? ctx.chain),
  );
}

async function waitFor(ctx: AwaitContext, { invocation, ending }: Invoked, waitMs: number): Promise<Invocation> {
  const endMs = performance.now() + waitMs;
  const heard = ending && (await within(ending, waitMs, null).catch(() => null));
  if (heard && isAtRest(heard.status)) return heard;
  return watchUntil(ctx, invocation, ({ status }) => isAtRest(status), endMs - performance.now());
}

/**
 * The invocation once `isOver` holds of it, or its state after `waitMs` or when this process ends. Changes in this process are notified;
 * those in other processes are polled for.
 */
async function watchUntil(
  ctx: AwaitContext,
  invocation: Invocation,
  isOver: (found: Invocation) => boolean,
  waitMs: number,
): Promise<Invocation> {
  const endMs = performance.now() + waitMs;
  const watch = ctx.changeHub.watch(invocation.id);
  try {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
      const isLeaving = ctx.changeHub.hasLeft();
      const found = (await findInvocation(ctx.db, invocation.id)) ?? invocation;
      const leftMs = endMs - performance.now();
      if (isOver(found) || isLeaving || leftMs <= 0) return found;
      await stateChange(ctx.changeHub, watch, Math.min(pauseMs, leftMs));
    }
  } finally {
    watch.close();
  }
}

/** Resolves at the next change that is more than stored output, when this process is about to end, or after `atMostMs`. */
async function stateChange(changeHub: ChangeHub, watch: ChangeWatch, atMostMs: number): Promise<void> {
  const endMs = performance.now() + atMostMs;
  const leftMs = () => endMs - performance.now();
  const isOutput = async () => (await watch.next(leftMs())) && (watch.takeSaid()?.length ?? 0) > 0;
  while (leftMs() > 0 && (await isOutput()) && !changeHub.hasLeft());
}
