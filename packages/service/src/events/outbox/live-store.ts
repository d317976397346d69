import type { Sql } from '../../store/sql.ts';
import { UNDECIDED_FROM } from './event-store.ts';

/** The last decided sequence: later commits have higher ones. */
export async function findDecided(sql: Sql): Promise<number> {
  const [row] = await sql.query<{ last: bigint }>('find-decided', `select ${UNDECIDED_FROM} - 1 as last`);
  return Number(row?.last ?? 0);
}

/** The last decided sequence of accounts; accounts without events are left out. */
export async function findLastDecided(sql: Sql, accountIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const rows = await sql.query<{ accountId: string; last: bigint }>(
    'find-last-decided',
    `select a as "accountId", e.sequence as last from (select ${UNDECIDED_FROM} as undecided) d, unnest($1::text[]) as a
      cross join lateral (
        select sequence from event where account_id = a and sequence < d.undecided order by sequence desc limit 1
      ) e`,
    [accountIds],
  );
  return new Map(rows.map(({ accountId, last }) => [accountId, Number(last)]));
}
