import { formatUsdc } from '@agent-network/contracts/money';
import type { Store } from '../../store/database.ts';
import type { LockMode } from '../../store/lock-free.ts';
import type { Tx } from '../../store/sql.ts';
import type { AccountCaller } from '../caller.ts';
import type { Budget } from '../spending-limits.ts';
import { addSpending, listSpent, lockFreeBudgets, returnSpending } from './budget-store.ts';

export interface Spending {
  /** The request with this cost. */
  readonly id: string;
  readonly budget: Budget;
  readonly amountMicro: bigint;
  /** The day (UTC) of this time is charged, and gets returned amounts back, however late. */
  readonly spentAt: Date;
}

const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

/**
 * Counts spending against the daily budgets, in the caller's transaction. Returns requests beyond a budget with the rest of it; they count
 * nothing.
 */
export async function spend(
  tx: Tx,
  spendings: readonly Spending[],
  locks: LockMode = 'wait',
): Promise<ReadonlyMap<string, bigint>> {
  if (spendings.length === 0) return new Map();
  const rows = spendings.map(({ budget, spentAt, ...rest }) => ({ ...rest, ...budget, day: dayOf(spentAt) }));
  if (locks === 'skip') await lockFreeBudgets(tx, rows);
  const decided = await addSpending(tx, rows);
  return new Map(decided.flatMap(({ id, isWithin, remainingMicro }) => (isWithin ? [] : [[id, remainingMicro]])));
}

/** Returns, in the caller's transaction, the unspent part of requests of that time. */
export async function unspend(
  tx: Tx,
  unspent: readonly { readonly budgetId: string; readonly amountMicro: bigint; readonly spentAt: Date }[],
  locks: LockMode = 'wait',
): Promise<void> {
  const returns = unspent
    .filter(({ amountMicro }) => amountMicro > 0n)
    .map(({ spentAt, ...rest }) => ({ ...rest, day: dayOf(spentAt) }));
  if (returns.length === 0) return;
  if (locks === 'skip') await lockFreeBudgets(tx, returns);
  await returnSpending(tx, returns);
}

/** Spending limits of a key and today's spending (UTC); null without limits. Spending without a daily limit is not counted. */
export async function readSpending(ctx: Store, { limits, budgetId }: AccountCaller, now: Date) {
  const { perCallMicro, perDayMicro } = limits;
  if (perCallMicro === null && perDayMicro === null) return null;
  return {
    perCall: perCallMicro === null ? null : formatUsdc(perCallMicro),
    perDay: perDayMicro === null ? null : formatUsdc(perDayMicro),
    spentToday: formatUsdc((await spentOn(ctx, [budgetId], now)).get(budgetId) ?? 0n),
  };
}

/** Spending from budgets on the day (UTC) of a time. */
export const spentOn = async (
  ctx: Store,
  budgetIds: readonly string[],
  at: Date,
): Promise<ReadonlyMap<string, bigint>> =>
  new Map((await listSpent(ctx.db, budgetIds, dayOf(at))).map(({ budgetId, spentMicro }) => [budgetId, spentMicro]));
