import type { Sql } from '../../store/sql.ts';
import { plainSql } from './asset-account.ts';
import { FEES } from './ledger-store.ts';

/** Ledger account of an open hold; null when there is none. */
export async function findOpenHold(sql: Sql, id: string): Promise<string | null> {
  const [row] = await sql.query<{ account: string }>(
    'find-open-hold',
    'select ledger_account_id as account from hold where id = $1 and ended_at is null',
    [id],
  );
  return row?.account ?? null;
}

/** Places a hold on fees. The fees account stores no balance, so this row alone reserves the money; the caller holds the fees lock. */
export const insertFeeHold = (
  sql: Sql,
  {
    id,
    fees,
    amountMicro,
    expiresAt,
    now,
  }: { id: string; fees: string; amountMicro: bigint; expiresAt: Date; now: Date },
): Promise<unknown> =>
  sql.query(
    'insert-fee-hold',
    `insert into hold (id, ledger_account_id, amount_micro, expires_at, created_at) values ($1, $2, $3, $4, $5)`,
    [id, fees, amountMicro, expiresAt, now],
  );

export async function sumFeeHolds(sql: Sql, fees: string): Promise<bigint> {
  const [row] = await sql.query<{ sum: bigint }>(
    'sum-fee-holds',
    `select coalesce(sum(amount_micro), 0)::bigint as sum from hold where ledger_account_id = $1 and ended_at is null`,
    [fees],
  );
  return row?.sum ?? 0n;
}

/**
 * Deletes an ended hold or one on fees, so that a repeated attempt may place it again under its id. The hold of a concurrent repetition
 * stays, as its account still holds the amount.
 */
export const removeHold = (sql: Sql, id: string): Promise<unknown> =>
  sql.query(
    'remove-hold',
    `delete from hold where id = $1 and (ended_at is not null or ${plainSql('ledger_account_id')} = $2)`,
    [id, FEES],
  );

/** Expired withdrawal holds, left by processes that died. */
export const listForgottenHolds = async (sql: Sql, now: Date, limit: number): Promise<string[]> => {
  const rows = await sql.query<{ id: string }>(
    'list-forgotten-holds',
    `select id from hold where ended_at is null and expires_at <= $1 and id like 'wdr\\_%' order by expires_at limit $2`,
    [now, limit],
  );
  return rows.map(({ id }) => id);
};

/** Earnings of an account by vouchers that no claim covers yet. A treasury holds them back; from the fees they can't be withdrawn. */
export async function sumUnclaimed(sql: Sql, ledgerAccountId: string): Promise<bigint> {
  const [row] = await sql.query<{ micro: bigint }>(
    'sum-unclaimed-earnings',
    'select coalesce(sum(micro), 0)::bigint as micro from channel_earning where ledger_account_id = $1',
    [ledgerAccountId],
  );
  return row?.micro ?? 0n;
}
