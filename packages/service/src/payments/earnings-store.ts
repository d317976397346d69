import type { Sql } from '../db/sql.ts';

/** What the treasuries of an account were paid for work since a time, less what the node kept, by day (UTC). */
export const listEarningRows = (
  sql: Sql,
  accountId: string,
  since: Date,
): Promise<{ date: string; earnedMicro: bigint }[]> =>
  sql.query(
    'list-earnings',
    `with mine as (
       select id from ledger_account where account_id = $1 and kind in ('treasury', 'agent')
     ), earned as (
       select created_at, amount_micro from transfer
        where kind = 'charge' and created_at >= $2 and credit_sequence is not null and credit in (select id from mine)
       union all
       select created_at, -amount_micro from transfer
        where kind = 'fee' and created_at >= $2 and debit_sequence is not null and debit in (select id from mine)
     )
     select to_char(created_at at time zone 'UTC', 'YYYY-MM-DD') as date, sum(amount_micro)::bigint as "earnedMicro"
       from earned group by 1`,
    [accountId, since],
  );
