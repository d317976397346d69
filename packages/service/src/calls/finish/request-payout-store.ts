import type { Sql } from '../../store/sql.ts';

/**
 * Requests that may still claim a payout: open ones, those with a bill (part of it may be returned), and those with a failed payment (mined
 * after all, it is refunded). Payments made before `since` do not count.
 */
export async function listPayingRequests(sql: Sql, since: Date): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    'list-paying-requests',
    `select id from invocation where status in ('pending', 'processing')
     union
     select id from invocation where status = 'input_required'
     union
     select b.subject_id from chain_payment b where b.purpose = 'bill' and b.created_at > $1
     union
     select f.subject_id from chain_payment f where f.state = 'failed' and f.direction = 'in' and f.purpose = 'invocation'
        and f.created_at > $1`,
    [since],
  );
  return rows.map(({ id }) => id);
}
