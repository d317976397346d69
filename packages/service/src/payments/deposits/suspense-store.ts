import type { Sql } from '../../db/sql.ts';

/** Moves the deposits of a suspense account to a treasury. */
export async function moveSuspensePayments(
  sql: Sql,
  to: { suspenseId: string; treasuryId: string; accountId: string },
): Promise<void> {
  await sql.query(
    'move-suspense-payments',
    `update chain_payment set ledger_account_id = $2, account_id = $3
      where ledger_account_id = $1 and purpose = 'deposit'`,
    [to.suspenseId, to.treasuryId, to.accountId],
  );
}
