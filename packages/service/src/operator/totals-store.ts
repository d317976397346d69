import type { Sql } from '../store/sql.ts';

export interface TotalsRow {
  readonly accounts: number;
  readonly agents: number;
  readonly online: number;
  readonly calls: number;
  readonly calls30: number;
  readonly spentMicro: bigint;
  readonly spentMicro30: bigint;
  readonly feesMicro: bigint;
}

/** Fees that are not withdrawn, of each asset in the books, the default one first. */
export const readFees = (sql: Sql): Promise<{ readonly asset: string; readonly micro: bigint }[]> =>
  sql.query(
    'read-fees-by-asset',
    `select a.id as asset, coalesce(sum(t.change_micro), 0)::bigint as micro
       from asset a left join ledger_total t on t.kind = 'fees' and t.asset is not distinct from case when not a.is_default then a.id end
      group by a.id, a.is_default order by a.is_default desc, a.id`,
    [],
  );

/** Counts of the whole node, from sums by day and tables that hold a row for each account and agent: never from the invocations. */
export async function readNodeTotals(sql: Sql, since: Date): Promise<TotalsRow> {
  const [row] = await sql.query<TotalsRow>(
    'read-node-totals',
    `with used as (
       select day as at, calls, spent_micro from agent_use
       union all
       select made_at, calls, spent_micro from call_change
     ), sums as (
       select coalesce(sum(calls), 0)::float8 as calls, coalesce(sum(spent_micro), 0)::bigint as "spentMicro",
              coalesce(sum(calls) filter (where at >= $1), 0)::float8 as calls30,
              coalesce(sum(spent_micro) filter (where at >= $1), 0)::bigint as "spentMicro30"
         from used
     ), own as (
       select count(*)::int as agents, count(*) filter (where status = 'online')::int as online
         from agent where home_node is null and status <> 'removed'
     )
     select (select count(*)::int from account) as accounts,
            (select coalesce(sum(change_micro), 0)::bigint from ledger_total where kind = 'fees' and asset is null) as "feesMicro",
            own.*, sums.*
       from sums, own`,
    [since],
  );
  if (!row) throw new Error('sums have a row');
  return row;
}
