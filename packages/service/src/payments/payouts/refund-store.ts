import type { Sql, Tx } from '../../store/sql.ts';

const SENT = `direction = 'out' and purpose in ('refund', 'return', 'second_return') and signature <> '0x' and created_at > $2`;

/** Number of refunds sent on chain since a time, to the wallet or to the account, whichever is higher. */
export async function countRefundsSent(
  sql: Sql,
  { address, accountId, since }: { address: string; accountId: string; since: Date },
): Promise<number> {
  const [row] = await sql.query<{ sent: number }>(
    'count-refunds-sent',
    `select greatest((select count(*) from chain_payment where to_address = $1 and ${SENT}),
                     (select count(*) from chain_payment where account_id = $3 and ${SENT}))::int as sent`,
    [address, since, accountId],
  );
  return row?.sent ?? 0;
}

/** Serializes the starts of an account's withdrawals until the transaction ends. Take it before any lock of the ledger. */
export const lockWithdrawals = (tx: Tx, accountId: string): Promise<unknown> =>
  tx.query('lock-withdrawals', `select pg_advisory_xact_lock(hashtextextended('withdrawals:' || $1, 0))`, [accountId]);

/** Beginning of the nth newest of an account's withdrawals, from 1; null: it has begun fewer since a time. */
export async function findNthWithdrawal(sql: Sql, accountId: string, since: Date, nth: number): Promise<Date | null> {
  const [row] = await sql.query<{ begunAt: Date }>(
    'find-nth-withdrawal',
    `select created_at as "begunAt" from chain_payment
      where account_id = $1 and purpose = 'withdrawal' and direction = 'out' and created_at > $2
      order by created_at desc offset $3::int - 1 limit 1`,
    [accountId, since, nth],
  );
  return row?.begunAt ?? null;
}

/** Sum of the withdrawals from a treasury since a time, with those that are under way. */
export async function sumWithdrawn(sql: Sql, treasuryId: string, since: Date | null): Promise<bigint> {
  const [row] = await sql.query<{ micro: bigint }>(
    'sum-withdrawn',
    `select coalesce(sum(value_micro), 0)::bigint as micro from chain_payment
      where ledger_account_id = $1 and purpose = 'withdrawal' and state <> 'failed'
        and created_at >= coalesce($2::timestamptz, '-infinity')`,
    [treasuryId, since],
  );
  return row?.micro ?? 0n;
}

/** True if a settled payment of a request was neither held for it nor refunded. */
export async function isUntouched(tx: Tx, requestId: string): Promise<boolean> {
  const [row] = await tx.query<{ isUntouched: boolean }>(
    'is-payment-untouched',
    `select not exists (select from hold where id = $1)
        and not exists (select from chain_payment where subject_id = $1 and purpose = 'refund') as "isUntouched"`,
    [requestId],
  );
  return row?.isUntouched ?? true;
}
