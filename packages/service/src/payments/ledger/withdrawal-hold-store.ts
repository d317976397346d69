import type { Sql } from '../../db/sql.ts';
import { FEES } from './ledger-store.ts';

/** The account whose money an open hold sets aside; null when there is no such hold. */
export async function findOpenHold(sql: Sql, id: string): Promise<string | null> {
  const [row] = await sql.query<{ account: string }>(
    'find-open-hold',
    'select ledger_account_id as account from hold where id = $1 and ended_at is null',
    [id],
  );
  return row?.account ?? null;
}

/** Sets fees aside. Their account keeps no balance, so this row alone does it; the caller has the lock of the fees. */
export const insertFeeHold = (
  sql: Sql,
  { id, amountMicro, expiresAt, now }: { id: string; amountMicro: bigint; expiresAt: Date; now: Date },
): Promise<unknown> =>
  sql.query(
    'insert-fee-hold',
    `insert into hold (id, ledger_account_id, amount_micro, expires_at, created_at) values ($1, $2, $3, $4, $5)`,
    [id, FEES, amountMicro, expiresAt, now],
  );

export async function sumFeeHolds(sql: Sql): Promise<bigint> {
  const [row] = await sql.query<{ sum: bigint }>(
    'sum-fee-holds',
    `select coalesce(sum(amount_micro), 0)::bigint as sum from hold where ledger_account_id = $1 and ended_at is null`,
    [FEES],
  );
  return row?.sum ?? 0n;
}

/** Removes a hold that has ended, or one of fees: another attempt may place it again under its id. */
export const removeHold = (sql: Sql, id: string): Promise<unknown> =>
  sql.query('remove-hold', 'delete from hold where id = $1', [id]);

/** Holds of withdrawals whose process did not come back to them. */
export const listForgottenHolds = async (sql: Sql, now: Date, limit: number): Promise<string[]> => {
  const rows = await sql.query<{ id: string }>(
    'list-forgotten-holds',
    `select id from hold where ended_at is null and expires_at <= $1 and id like 'wdr\\_%' order by expires_at limit $2`,
    [now, limit],
  );
  return rows.map(({ id }) => id);
};
