import type { Sql } from '../db/sql.ts';

export interface UsageRow {
  readonly date: string;
  readonly requests: bigint;
  readonly completed: bigint;
  readonly failed: bigint;
  readonly spentMicro: bigint;
}

/** What an account asked for since the beginning of a day (UTC), by the day of the request. */
export const listUsageRows = (sql: Sql, accountId: string, since: Date): Promise<UsageRow[]> =>
  sql.query<UsageRow>(
    'list-usage',
    `select to_char(created_at at time zone 'UTC', 'YYYY-MM-DD') as date, count(*) as requests,
            count(*) filter (where status = 'completed') as completed, count(*) filter (where status = 'failed') as failed,
            coalesce(sum(cost_micro), 0)::bigint as "spentMicro"
       from invocation where account_id = $1 and created_at >= $2 group by 1`,
    [accountId, since],
  );
