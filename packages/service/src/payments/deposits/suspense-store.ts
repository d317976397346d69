import type { Sql } from '../../store/sql.ts';

/** Moves up to `limit` deposits of a suspense account to a treasury; returns their number. */
export async function moveSuspensePayments(
  sql: Sql,
  to: { suspenseId: string; treasuryId: string; accountId: string; limit: number },
): Promise<number> {
  const rows = await sql.query(
    'move-suspense-payments',
    `update chain_payment set ledger_account_id = $2, account_id = $3
      where id in (select id from chain_payment where ledger_account_id = $1 and purpose = 'deposit' limit $4) returning id`,
    [to.suspenseId, to.treasuryId, to.accountId, to.limit],
  );
  return rows.length;
}
