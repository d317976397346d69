import { whyStalled } from '../../chain/blocks/gates.ts';
import { onChain } from '../../chain/networks.ts';
import { until } from '../../lib/concurrency/until.ts';
import { within } from '../../lib/concurrency/within.ts';
import { newId } from '../../lib/id.ts';
import type { RefusalReason } from '../../payments/chain-outbox/refusal-reason.ts';
import { paymentOf } from '../../payments/schemes/exact/claim-payments.ts';
import { paymentPending, paymentRequired, type TermsContext } from '../../payments/x402/payment-required.ts';
import type { Records } from '../../store/database.ts';
import { hasEnded, type Invocation } from '../invocation.ts';
import { findInvocation } from '../invocation-store.ts';
import type { HasChangeHub } from '../stream/change-hub.ts';
import type { Invoked } from './invoke-input.ts';

type AwaitContext = Records & TermsContext & HasChangeHub;

/** Poll interval for changes in other processes; changes in this one are notified. */
const ASK_AGAIN_MS = 200;

/**
 * The invocation when it has ended, or its state after `waitMs` or when this process ends. For one paid by x402, throws PAYMENT_REQUIRED when its payment certainly
 * moved nothing, and PAYMENT_PENDING while that is unknown.
 */
export async function awaitInvocation(ctx: AwaitContext, invoked: Invoked, waitMs: number): Promise<Invocation> {
  const invocation = hasEnded(invoked.invocation.status) ? invoked.invocation : await waitFor(ctx, invoked, waitMs);
  return requirePaid(ctx, invoked, invocation);
}

/** The current state of an invocation that was answered before; null: it has been removed. */
export const rereadInvocation = (ctx: AwaitContext, requestId: string): Promise<Invocation | null> =>
  findInvocation(ctx.db, requestId);

/** The invocation once it is `processing` or has ended; throws as `awaitInvocation` does. */
export async function awaitBegun(ctx: AwaitContext, invoked: Invoked, waitMs: number): Promise<Invocation> {
  const endMs = performance.now() + waitMs;
  let { invocation } = invoked;
  const watch = ctx.changeHub.watch(invocation.id);
  try {
    while (invoked.payment && invocation.status === 'pending' && performance.now() < endMs) {
      await watch.next(ASK_AGAIN_MS);
      invocation = (await findInvocation(ctx.db, invocation.id)) ?? invocation;
    }
  } finally {
    watch.close();
  }
  return requirePaid(ctx, invoked, invocation);
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
    await whyStalled(ctx, onChain(ctx, invoked.payment.chainId)?.chain ?? ctx.chain),
  );
}

/** An end in this process is notified; otherwise, and when another process has taken the work over, polls the database. */
async function waitFor(ctx: AwaitContext, { invocation, ending }: Invoked, waitMs: number): Promise<Invocation> {
  const find = async () => {
    const found = await findInvocation(ctx.db, invocation.id);
    return found && (hasEnded(found.status) || ctx.changeHub.hasLeft()) ? found : null;
  };
  const endMs = performance.now() + waitMs;
  const heard = ending && (await within(ending, waitMs, null).catch(() => null));
  if (heard && hasEnded(heard.status)) return heard;
  const ended = await until(find, { timeoutMs: endMs - performance.now(), firstMs: 20, maxMs: 500 });
  return ended ?? (await findInvocation(ctx.db, invocation.id)) ?? invocation;
}
