import type { Dispatcher } from '../../events/deliveries/dispatcher.ts';
import { createMutex } from '../../lib/concurrency/mutex.ts';
import { createSemaphore, type Semaphore } from '../../lib/concurrency/semaphore.ts';
import { jsonSizeUpTo } from '../../lib/json/json-limits.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import type { Telemetry } from '../../lib/telemetry/telemetry.ts';
import { createLedgerBatcher, LEDGER_LOCK_TIMEOUT_MS, runApart } from '../../payments/ledger/ledger-batcher.ts';
import type { ChannelServices } from '../../payments/schemes/batch-settlement/channel-services.ts';
import type { LockMode } from '../../store/lock-free.ts';
import { notify } from '../../store/notify.ts';
import { GuardError } from '../../store/transaction.ts';
import { endBulkRequest } from '../bulk/bulk.ts';
import type { CallServices } from '../call-services.ts';
import type { Invocation } from '../invocation.ts';
import { findInvocation } from '../invocation-store.ts';
import { MAX_RESULT_BYTES } from '../protocols/agent-answer.ts';
import {
  type End,
  type EndContext,
  type Ended,
  endAll,
  type Finisher,
  flushOfEnds,
  rowsOf,
} from './end-invocations.ts';
import { reportEnded } from './report-ended.ts';

export type FinishContext = EndContext &
  Pick<CallServices, 'runner' | 'dueAnswers' | 'changeHub' | 'storagePace'> &
  ChannelServices &
  Telemetry & { readonly webhookDispatcher: Dispatcher; readonly ledgerTurns: Semaphore };

const MAX_BATCH = 100;
/** Bytes of results of a batch. */
const MAX_BATCH_BYTES = 256 * 1024;
/** Size from which a result gets a transaction of its own, at the pace of its account. */
const LARGE_BYTES = 64 * 1024;

const limits = { lockTimeoutMs: LEDGER_LOCK_TIMEOUT_MS };

const resultBytes = ({ outcome }: End) =>
  outcome.kind === 'completed' ? jsonSizeUpTo(MAX_RESULT_BYTES, outcome.result) : 0;

/**
 * Batches ends: requests that end during a transaction share the next one; those of a bulk request end under its lock. Who ends with a
 * small result never waits until large ones are stored.
 */
export function createFinisher(ctx: FinishContext): Finisher {
  const batches = {
    namesOf: rowsOf,
    run: async (ends: readonly End[], locks: LockMode) => {
      const done =
        (locks === 'skip' ? await endAtOnce(ctx, ends) : null) ??
        (await ctx.db.transaction(async (tx) => {
          const ended = await endAll(ctx, tx, ends, { now: ctx.clock.now(), locks });
          failpoint('before-finish-commit');
          return ended;
        }, limits));
      failpoint('after-finish-commit');
      follow(ctx, done);
      return ends.map(({ invocation }) => done.invocations.get(invocation.id) ?? null);
    },
  };
  const shared = { db: ctx.db, turns: ctx.ledgerTurns };
  const batcher = createLedgerBatcher<End, Invocation | null>(shared, {
    ...batches,
    maxSize: MAX_BATCH_BYTES,
    weightOf: (end) => Math.max(Math.floor(MAX_BATCH_BYTES / MAX_BATCH), resultBytes(end)),
  });
  const apart = { db: ctx.db, turns: createSemaphore() };
  const largeOnes = createLedgerBatcher<End, Invocation | null>(apart, { ...batches, maxSize: 1 });
  const bulkLocks = createMutex();
  const finishOne = async (end: End): Promise<Invocation | null> => {
    const { bulkId } = end.invocation;
    const bytes = resultBytes(end);
    const isLarge = bytes >= LARGE_BYTES;
    if (isLarge) await ctx.storagePace.take(end.invocation.accountId, bytes, inTime(ctx, end.invocation));
    if (bulkId === null) return (isLarge ? largeOnes : batcher).add(end);
    // Those that wait for the lock of one bulk request hold one connection.
    const done = await bulkLocks.run(bulkId, () =>
      runApart(ctx, (locks) =>
        ctx.db.transaction(
          async (tx) => {
            const ended = await endBulkRequest(ctx, tx, bulkId, { end, locks });
            failpoint('before-bulk-finish-commit');
            return ended;
          },
          locks === 'wait' ? limits : {},
        ),
      ),
    );
    failpoint('after-bulk-finish-commit');
    follow(ctx, done);
    return done.invocations.get(end.invocation.id) ?? null;
  };
  return {
    waitingMs: () => batcher.waitingMs(),
    async finish(end) {
      const finished = await finishOne(end);
      return finished ?? (await findInvocation(ctx.db, end.invocation.id)) ?? end.invocation;
    },
  };
}

/** Ends requests in one round trip. Null: nothing was changed, because some end needs a transaction that reads first. */
async function endAtOnce(ctx: FinishContext, ends: readonly End[]): Promise<Ended | null> {
  const flush = flushOfEnds(ctx, ends, ctx.clock.now());
  if (flush === null) return null;
  failpoint('before-finish-commit');
  try {
    return flush.endedBy(await ctx.db.flush(flush.statements, limits));
  } catch (error) {
    if (error instanceof GuardError) return null;
    throw error;
  }
}

/** Aborts while there is time to store a result before its deadline, and when the process stops. */
function inTime({ clock, runner }: FinishContext, { deadline }: Invocation): AbortSignal {
  const leftMs = Math.max(0, deadline.getTime() - clock.now().getTime());
  return AbortSignal.any([AbortSignal.timeout(Math.floor(leftMs / 2)), runner.signal]);
}

/** Side effects of a committed end. All but the log line and the counters are repeated by a job. */
function follow(ctx: FinishContext, { invocations, isToTell }: Ended): void {
  if (isToTell) ctx.webhookDispatcher.requestRun();
  reportEnded(ctx, [...invocations.values()]);
  for (const { id, status } of invocations.values()) {
    ctx.changeHub.changed(id);
    if (status === 'cancelled') {
      ctx.runner.abort(id);
      notify(ctx.db, CANCELLED_CHANNEL, id);
    }
  }
}

/** Notifies other processes that a request they may be running was cancelled; the stored state decides. */
export const CANCELLED_CHANNEL = 'invocation_cancelled';
