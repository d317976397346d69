import { forgetExpiredKeys } from './access/idempotency.ts';
import { checkDueAgents } from './agents/check-agents.ts';
import { foldCounts } from './agents/fold-counts.ts';
import type { HasCourier } from './events/courier.ts';
import { failOverdue } from './invocations/fail-overdue.ts';
import { recoverInvocations } from './invocations/recover-invocations.ts';
import type { HasBacklog } from './invocations/run-queued.ts';
import type { HasLog } from './lib/log.ts';
import { reconcilePayments } from './payments/x402/reconcile.ts';
import { settleOwed } from './payments/x402/settle-owed.ts';
import type { JobHandlers } from './queue/job-types.ts';
import { type Repeating, repeatEvery, repeatHere } from './queue/repeat-every.ts';

export type JobContext = Parameters<typeof recoverInvocations>[0] &
  Parameters<typeof checkDueAgents>[0] &
  Parameters<typeof reconcilePayments>[0] &
  HasBacklog &
  HasCourier &
  HasLog;

/** Job name -> use case: the background twin of http/handlers. */
export const jobHandlers = (ctx: JobContext): JobHandlers => ({
  'settle-payment': ({ paymentId }) => settleOwed(ctx, paymentId),
});

/** What is done again and again, by one process of the node at a time where it is the same work for all. */
export function startRecurring(ctx: JobContext): Repeating[] {
  return [
    ctx.courier.start(),
    repeatEvery(ctx, 'check-agents', 1000, () => checkDueAgents(ctx)),
    // In every process: only it knows which of its own it has lost sight of.
    repeatHere(ctx, 'recover-invocations', 2000, async () => void (await recoverInvocations(ctx))),
    repeatHere(ctx, 'run-queued', 1000, () => ctx.backlog.pump()),
    repeatEvery(ctx, 'fail-overdue', 1000, () => failOverdue(ctx)),
    repeatEvery(ctx, 'forget-expired-keys', 600_000, () => forgetExpiredKeys(ctx)),
    repeatEvery(ctx, 'fold-counts', 1000, () => foldCounts(ctx)),
    repeatEvery(ctx, 'reconcile-payments', 2000, () => reconcilePayments(ctx)),
  ];
}
