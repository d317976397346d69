import { formatUsdc } from '@agent-network/contracts/money';
import type { HasDb } from '../../db/database.ts';
import type { Tx } from '../../db/sql.ts';
import type { AccountCaller } from '../caller/caller.ts';
import type { Budget } from '../caller/spending-limits.ts';
import { addSpending, listSpent, returnSpending } from './budget-store.ts';

export interface Spending {
  /** The request with this cost. */
  readonly id: string;
  readonly budget: Budget;
  readonly amountMicro: bigint;
}

const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

/**
 * Counts spending against the daily budgets, in the caller's transaction. Returns requests beyond a budget with the rest of it; they count
 * nothing.
 */
export async function spend(tx: Tx, spendings: readonly Spending[], now: Date): Promise<ReadonlyMap<string, bigint>> {
  if (spendings.length === 0) return new Map();
  const rows = spendings.map(({ id, budget, amountMicro }) => ({ id, ...budget, amountMicro }));
  const decided = await addSpending(tx, rows, dayOf(now));
  return new Map(decided.flatMap(({ id, isWithin, remainingMicro }) => (isWithin ? [] : [[id, remainingMicro]])));
}

/** Returns, in the caller's transaction, the unspent part of requests of that time. */
export async function unspend(
  tx: Tx,
  unspent: readonly { readonly budgetId: string; readonly amountMicro: bigint; readonly spentAt: Date }[],
): Promise<void> {
  const returns = unspent.filter(({ amountMicro }) => amountMicro > 0n);
  if (returns.length === 0) return;
  await returnSpending(
    tx,
    returns.map(({ budgetId, amountMicro, spentAt }) => ({ budgetId, amountMicro, day: dayOf(spentAt) })),
  );
}

/** Spending limits of a key and today's spending (UTC); null without limits. Spending without a daily limit is not counted. */
export async function readSpending(ctx: HasDb, { limits, budgetId }: AccountCaller, now: Date) {
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
  ctx: HasDb,
  budgetIds: readonly string[],
  at: Date,
): Promise<ReadonlyMap<string, bigint>> =>
  new Map((await listSpent(ctx.db, budgetIds, dayOf(at))).map(({ budgetId, spentMicro }) => [budgetId, spentMicro]));
