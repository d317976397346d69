import { lockFree } from '../../store/lock-free.ts';
import type { Sql, Tx } from '../../store/sql.ts';
import { budgetName } from '../spending-limits.ts';

export interface SpendingRow {
  readonly id: string;
  readonly budgetId: string;
  readonly perDayMicro: bigint;
  readonly amountMicro: bigint;
  /** The day (UTC) that it is counted on. */
  readonly day: string;
}

/** Locks budgets of days without waiting. Throws HeldUpError for those that other transactions have locked. */
export const lockFreeBudgets = (
  tx: Tx,
  rows: readonly { readonly budgetId: string; readonly day: string }[],
): Promise<void> =>
  lockFree(tx, {
    ...{ name: 'lock-free-budgets', key: 'budget_id', nameOf: budgetName },
    from: 'key_spending where budget_id = any($1) and day = any($2::date[])',
    params: [rows.map(({ budgetId }) => budgetId), rows.map(({ day }) => day)],
  });

/**
 * Spends from the daily budgets (UTC) for the requests that each budget can bear, in their order. Budgets are locked in the order of ids,
 * here and in `returnSpending`, so that batches can't deadlock.
 */
export async function addSpending(
  tx: Tx,
  requests: readonly SpendingRow[],
): Promise<{ id: string; isWithin: boolean; remainingMicro: bigint }[]> {
  const budgets = [...new Map(requests.map((each) => [`${each.budgetId} ${each.day}`, each])).entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, each]) => each);
  await tx.query(
    'open-budgets',
    `insert into key_spending (budget_id, day, spent_micro)
     select b, day, 0 from unnest($1::text[], $2::date[]) n(b, day) on conflict do nothing`,
    [budgets.map(({ budgetId }) => budgetId), budgets.map(({ day }) => day)],
  );
  return tx.query(
    'add-spending',
    `with request as (
       select * from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::date[]) with ordinality
         as r(id, budget, most, amount, day, turn)
     ), locked as materialized (
       select k.budget_id, k.day, k.spent_micro from key_spending k
        where k.budget_id = any($2) and (k.budget_id, k.day) in (select budget, day from request) order by k.budget_id, k.day for update
     ), decided as (
       select r.*, r.most - l.spent_micro as remaining,
              sum(r.amount) over (partition by r.budget, r.day order by r.turn) <= r.most - l.spent_micro as is_within
         from request r join locked l on l.budget_id = r.budget and l.day = r.day
     ), moved as (
       update key_spending k set spent_micro = k.spent_micro + d.amount
         from (select budget, day, sum(amount)::bigint as amount from decided where is_within group by budget, day) d
        where k.budget_id = d.budget and k.day = d.day
     )
     select id, is_within as "isWithin", greatest(remaining, 0) as "remainingMicro" from decided order by turn`,
    [
      requests.map((r) => r.id),
      requests.map((r) => r.budgetId),
      requests.map((r) => r.perDayMicro),
      requests.map((r) => r.amountMicro),
      requests.map((r) => r.day),
    ],
  );
}

/** Returns unspent amounts to the day that they were taken from. */
export async function returnSpending(
  tx: Tx,
  returns: readonly { readonly budgetId: string; readonly day: string; readonly amountMicro: bigint }[],
): Promise<void> {
  await tx.query(
    'return-spending',
    `with back as (
       select budget, day, sum(amount)::bigint as amount from unnest($1::text[], $2::date[], $3::bigint[]) as b(budget, day, amount)
        group by budget, day
     ), locked as materialized (
       select k.budget_id, k.day from key_spending k join back b on b.budget = k.budget_id and b.day = k.day
        order by k.budget_id, k.day for update of k
     )
     update key_spending k set spent_micro = greatest(0, k.spent_micro - b.amount) from back b, locked l
      where k.budget_id = b.budget and k.day = b.day and l.budget_id = k.budget_id and l.day = k.day`,
    [returns.map((r) => r.budgetId), returns.map((r) => r.day), returns.map((r) => r.amountMicro)],
  );
}

/** Spending from budgets on a day; budgets without any are left out. */
export const listSpent = (
  sql: Sql,
  budgetIds: readonly string[],
  day: string,
): Promise<{ budgetId: string; spentMicro: bigint }[]> =>
  sql.query<{ budgetId: string; spentMicro: bigint }>(
    'list-spent',
    'select budget_id as "budgetId", spent_micro as "spentMicro" from key_spending where budget_id = any($1) and day = $2::date',
    [budgetIds, day],
  );
