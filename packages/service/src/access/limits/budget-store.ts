import type { Sql, Tx } from '../../db/sql.ts';

export interface SpendingRow {
  readonly id: string;
  readonly budgetId: string;
  readonly perDayMicro: bigint;
  readonly amountMicro: bigint;
}

/**
 * Spends from the daily budgets (UTC) for the requests that each budget can bear, in their order. Budgets are locked in the order of ids,
 * here and in `returnSpending`, so that batches can't deadlock.
 */
export async function addSpending(
  tx: Tx,
  requests: readonly SpendingRow[],
  day: string,
): Promise<{ id: string; isWithin: boolean; remainingMicro: bigint }[]> {
  const budgets = [...new Set(requests.map(({ budgetId }) => budgetId))].sort();
  await tx.query(
    'open-budgets',
    `insert into key_spending (budget_id, day, spent_micro) select b, $2::date, 0 from unnest($1::text[]) b on conflict do nothing`,
    [budgets, day],
  );
  return tx.query(
    'add-spending',
    `with request as (
       select * from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]) with ordinality as r(id, budget, most, amount, turn)
     ), locked as materialized (
       select budget_id, spent_micro from key_spending where budget_id = any($2) and day = $5::date order by budget_id for update
     ), decided as (
       select r.*, r.most - l.spent_micro as remaining,
              sum(r.amount) over (partition by r.budget order by r.turn) <= r.most - l.spent_micro as is_within
         from request r join locked l on l.budget_id = r.budget
     ), moved as (
       update key_spending k set spent_micro = k.spent_micro + d.amount
         from (select budget, sum(amount)::bigint as amount from decided where is_within group by budget) d
        where k.budget_id = d.budget and k.day = $5::date
     )
     select id, is_within as "isWithin", greatest(remaining, 0) as "remainingMicro" from decided order by turn`,
    [
      requests.map((r) => r.id),
      requests.map((r) => r.budgetId),
      requests.map((r) => r.perDayMicro),
      requests.map((r) => r.amountMicro),
      day,
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
