import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { formatUsdc } from '@agent-network/contracts/money';
import type { KnownCaller } from '../../accounts/caller.ts';
import { type Once, unkeyed } from '../../accounts/idempotency/once.ts';
import { AppError } from '../../lib/app-error.ts';
import { until } from '../../lib/concurrency/until.ts';
import type { Telemetry } from '../../lib/telemetry/telemetry.ts';
import { paymentPending } from '../../payments/x402/payment-required.ts';
import type { Store } from '../../store/database.ts';
import type { Listening } from '../../store/listener.ts';
import type { CallServices } from '../call-services.ts';
import { CANCELLED_CHANNEL } from '../finish/finish-invocations.ts';
import { hasEnded, type Invocation, stateOf } from '../invocation.ts';
import { findCancelled, findInvocation } from '../invocation-store.ts';
import { requireOwn } from '../read-invocation.ts';
import { tellNoAnswer } from '../turns/end-waiting.ts';
import type { RunContext } from './run-invocation.ts';

const REASON = 'user_cancellation';
/** Maximum wait for a payment in flight: its money can't be refunded before its end is known. */
const PAYMENT_WAIT_MS = 10_000;

/**
 * Cancels an open request. The first end decides: throws CONFLICT when it had already ended, unless this call may be a repeat of the one
 * that cancelled it. The agent learns it from the closed connection or from a DELETE to its status URL; a treasury is refunded at once, a
 * wallet on chain soon.
 */
export async function cancelInvocation(
  ctx: RunContext & CallServices,
  caller: KnownCaller,
  requestId: string,
  once: Once = unkeyed,
): Promise<DataOf<Api['cancelInvocation']>> {
  const found = requireOwn(await findInvocation(ctx.db, requestId), caller);
  const invocation = isAwaitingPayment(found) ? await afterPayment(ctx, requestId) : found;
  const isOurs = once.isRepeated && invocation.status === 'cancelled';
  if (hasEnded(invocation.status) && !isOurs) throw ended(invocation);
  const after = isOurs ? invocation : await endCancelled(ctx, invocation);
  if (after.status !== 'cancelled') throw ended(after);
  if (invocation.status === 'input_required') void tellNoAnswer(ctx, invocation);
  return { requestId, cancelled: true, refund: formatUsdc(after.refundMicro ?? 0n), reason: REASON };
}

const isAwaitingPayment = (invocation: Invocation) => stateOf(invocation) === 'awaitingPayment';

const ended = ({ status }: Invocation) => new AppError('CONFLICT', `The request has ended already: it is ${status}.`);

/** Re-reads and retries when the attempt has changed since it was read. */
async function endCancelled(ctx: Store & CallServices, invocation: Invocation): Promise<Invocation> {
  for (let current = invocation; ; ) {
    const after = await ctx.finisher.finish({
      invocation: current,
      outcome: { kind: 'cancelled', reason: 'cancelled_by_caller' },
    });
    if (hasEnded(after.status)) return after;
    current = after;
  }
}

async function afterPayment(ctx: Store, requestId: string): Promise<Invocation> {
  const paid = await until(
    async () => {
      const found = await findInvocation(ctx.db, requestId);
      return found && !isAwaitingPayment(found) ? found : null;
    },
    { timeoutMs: PAYMENT_WAIT_MS, firstMs: 10, maxMs: 250 },
  );
  if (!paid) throw paymentPending(requestId, null);
  return paid;
}

type HearContext = Store & Telemetry & CallServices;

/**
 * Aborts work in this process that another one cancelled, and wakes its readers. After a lost connection checks all running requests,
 * because a notification may have been missed.
 */
export function hearCancellations(ctx: HearContext): Promise<Listening> {
  const hear = (requestId: string) => {
    ctx.runner.abort(requestId);
    ctx.changeHub.changed(requestId);
  };
  const lookUp = async () => (await findCancelled(ctx.db, ctx.runner.trackedIds())).forEach(hear);
  return ctx.db.listen(CANCELLED_CHANNEL, (requestId) => {
    if (requestId !== null) hear(requestId);
    else void lookUp().catch((error) => ctx.log.warn({ err: error }, 'lookup of cancelled requests failed'));
  });
}
