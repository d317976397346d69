import type { Sql } from '../db/sql.ts';

/** What the treasuries of an account were paid for work since a time, by day (UTC). */
export const listEarningRows = (
  sql: Sql,
  accountId: string,
  since: Date,
): Promise<{ date: string; earnedMicro: bigint }[]> =>
  sql.query(
    'list-earnings',
    `select to_char(created_at at time zone 'UTC', 'YYYY-MM-DD') as date, sum(amount_micro)::bigint as "earnedMicro"
       from transfer where kind = 'charge' and created_at >= $2
        and credit in (select id from ledger_account where account_id = $1 and kind in ('treasury', 'agent'))
      group by 1`,
    [accountId, since],
  );
