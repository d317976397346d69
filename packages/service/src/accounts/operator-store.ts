import type { Sql } from '../store/sql.ts';

export async function listOperatorAccounts(sql: Sql, now: Date): Promise<string[]> {
  const rows = await sql.query<{ accountId: string }>(
    'list-operator-accounts',
    `select distinct account_id as "accountId" from api_key
      where kind = 'key' and scopes @> array['operator'] and revoked_at is null and (expires_at is null or expires_at > $1) order by 1 limit 1000`,
    [now],
  );
  return rows.map(({ accountId }) => accountId);
}
