import type { Sql } from '../../db/sql.ts';

/**
 * Requests that may still come to a payout: open ones, those with a bill, of which something may be returned, and those whose payment failed
 * and may be mined after all, which is refunded then.
 */
export async function listPayingRequests(sql: Sql): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    'list-paying-requests',
    `select id from invocation where completed_at is null
     union
     select b.subject_id from chain_payment b where b.purpose = 'bill'
        and b.created_at > (select max(created_at) from chain_payment) - interval '3 days'
     union
     select f.subject_id from chain_payment f where f.state = 'failed' and f.direction = 'in' and f.purpose = 'invocation'
        and f.created_at > (select max(created_at) from chain_payment) - interval '3 days'`,
  );
  return rows.map(({ id }) => id);
}
