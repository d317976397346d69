import type { Ledger } from '../../payments/ledger/ledger-services.ts';
import { feeOf } from '../../payments/ledger/take-fees.ts';
import type { Store } from '../../store/database.ts';
import { run, type Statement, type Tx } from '../../store/sql.ts';
import type { BilledRequest } from '../billed-store.ts';
import type { Invocation } from '../invocation.ts';
import { aggregateCallChanges, type CallChange, callChangesInserted, forgetHours } from './call-figure-store.ts';

/** Adds invocations to the figures of their callers and of the agents' accounts, in the transaction that ends them. */
export const endedCounted = (ctx: Ledger, ended: readonly Invocation[]): Statement =>
  callChangesInserted(ended.map((invocation) => toChange(ctx, invocation)));

/** Adds a change of money of an ended request to the figures, in the transaction that makes it. */
export const countMoney = (
  tx: Tx,
  { accountId, agentId, createdAt }: Pick<BilledRequest, 'accountId' | 'agentId' | 'createdAt'>,
  { spentMicro = 0n, earnedMicro = 0n }: { spentMicro?: bigint; earnedMicro?: bigint },
): Promise<void> =>
  run(
    tx,
    callChangesInserted([
      {
        ...{ accountId, agentId, madeAt: createdAt, spentMicro, earnedMicro },
        ...{ durationMs: null, calls: 0, completed: 0, failed: 0 },
      },
    ]),
  ).then(() => undefined);

function toChange(ctx: Ledger, invocation: Invocation): CallChange {
  const { accountId, agentId, createdAt, startedAt, completedAt, status } = invocation;
  const costMicro = invocation.costMicro ?? 0n;
  // A bill is paid to the agent on chain: it is no earning here, unless it is not collected.
  const isEarned = invocation.payerLedgerId !== null && invocation.billedMicro === null;
  return {
    accountId,
    agentId,
    madeAt: createdAt,
    durationMs: status === 'completed' && startedAt && completedAt ? completedAt.getTime() - startedAt.getTime() : null,
    calls: 1,
    completed: status === 'completed' ? 1 : 0,
    failed: status === 'failed' ? 1 : 0,
    spentMicro: costMicro,
    earnedMicro: isEarned ? costMicro - feeOf(costMicro, ctx.platformFeeBps) : 0n,
  };
}

const BATCH = 2000;
/** Hourly figures are read for one day only. */
const HOURS_KEPT_MS = 48 * 3_600_000;

/** Folds the recent changes into the figures of calls. Answers do not change; queries stay fast. */
export async function aggregateFigures(ctx: Store): Promise<void> {
  while ((await aggregateCallChanges(ctx.db, BATCH)) === BATCH);
  await forgetHours(ctx.db, new Date(ctx.clock.now().getTime() - HOURS_KEPT_MS));
}
