import { isRolledBack } from '../../db/database-away.ts';
import type { Records } from '../../db/records.ts';
import type { HasWebhookDispatcher } from '../../events/deliveries/webhook-dispatcher.ts';
import { createBatcher } from '../../lib/batcher.ts';
import type { Telemetry } from '../../lib/log/telemetry.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import type { HasLedgerTurns } from '../../payments/ledger/hold-money.ts';
import type { Invocation } from '../invocation.ts';
import { findInvocation } from '../invocation-store.ts';
import type { HasRunner } from '../places/runner.ts';
import type { HasChangeHub } from '../stream/change-hub.ts';
import { endBulkRequest } from './bulk.ts';
import { type End, type EndContext, type Ended, endAll, type Finisher } from './end-invocations.ts';
import { reportEnded } from './report-ended.ts';

/** Who is told of an end: webhooks, readers of the stream, the process that runs the request. */
interface EndNotices extends HasWebhookDispatcher, HasChangeHub, HasRunner {}

export type FinishContext = EndContext & Records & Telemetry & EndNotices & HasLedgerTurns;

const MAX_BATCH = 100;

/** Batches ends: requests that end during a transaction share the next one; those of a bulk request end under its lock. */
export function createFinisher(ctx: FinishContext): Finisher {
  const batcher = createBatcher<End, Invocation | null>({
    maxSize: MAX_BATCH,
    canSplit: isRolledBack,
    turns: ctx.ledgerTurns,
    run: async (ends) => {
      const done = await ctx.db.transaction(async (tx) => {
        const ended = await endAll(ctx, tx, ends, ctx.clock.now());
        failpoint('before-finish-commit');
        return ended;
      });
      failpoint('after-finish-commit');
      follow(ctx, done);
      return ends.map(({ invocation }) => done.invocations.get(invocation.id) ?? null);
    },
  });
  const finishOne = async (end: End): Promise<Invocation | null> => {
    const { bulkId } = end.invocation;
    if (bulkId === null) return batcher.add(end);
    const done = await ctx.db.transaction(async (tx) => {
      const ended = await endBulkRequest(ctx, tx, bulkId, end);
      failpoint('before-bulk-finish-commit');
      return ended;
    });
    failpoint('after-bulk-finish-commit');
    follow(ctx, done);
    return done.invocations.get(end.invocation.id) ?? null;
  };
  return {
    async finish(end) {
      const finished = await finishOne(end);
      return finished ?? (await findInvocation(ctx.db, end.invocation.id)) ?? end.invocation;
    },
  };
}

/** Side effects of a committed end. None is needed for correctness: a job repeats each of them. */
function follow(ctx: FinishContext, { invocations, isToTell }: Ended): void {
  if (isToTell) ctx.webhookDispatcher.requestRun();
  reportEnded(ctx, [...invocations.values()]);
  for (const { id, status } of invocations.values()) {
    ctx.changeHub.changed(id);
    if (status === 'cancelled') {
      ctx.runner.abort(id);
      void ctx.db.query('notify-cancelled', 'select pg_notify($1, $2)', [CANCELLED_CHANNEL, id]).catch(() => undefined);
    }
  }
}

/** Notifies other processes that a request they may be running was cancelled: a hint; the stored state decides. */
export const CANCELLED_CHANNEL = 'invocation_cancelled';
