import type { Sql } from '../../db/sql.ts';

/** What an account has earned by vouchers that no claim covers yet. It holds that back; of the fees it cannot be withdrawn. */
export async function sumUnclaimed(sql: Sql, ledgerAccountId: string): Promise<bigint> {
  const [row] = await sql.query<{ micro: bigint }>(
    'sum-unclaimed-earnings',
    'select coalesce(sum(micro), 0)::bigint as micro from channel_earning where ledger_account_id = $1',
    [ledgerAccountId],
  );
  return row?.micro ?? 0n;
}
