import type { Sql, Tx } from '../../db/sql.ts';

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

/** Serializes what begins withdrawals of an account until the transaction ends. Taken before any lock of the ledger. */
export const lockWithdrawals = (tx: Tx, accountId: string): Promise<unknown> =>
  tx.query('lock-withdrawals', `select pg_advisory_xact_lock(hashtextextended('withdrawals:' || $1, 0))`, [accountId]);

/** Number of withdrawals that an account has begun since a time. */
export async function countWithdrawals(sql: Sql, accountId: string, since: Date): Promise<number> {
  const [row] = await sql.query<{ begun: number }>(
    'count-withdrawals',
    `select count(*)::int as begun from chain_payment
      where account_id = $1 and purpose = 'withdrawal' and direction = 'out' and created_at > $2`,
    [accountId, since],
  );
  return row?.begun ?? 0;
}
