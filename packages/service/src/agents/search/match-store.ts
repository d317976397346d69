import type { Sql } from '../../store/sql.ts';

/** Online agents that these accounts have here, at most 2,000. */
export async function listOnlineOf(sql: Sql, accountIds: readonly string[]): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    'list-online-of',
    `select id from agent where account_id = any($1) and home_node is null and status = 'online' limit 2000`,
    [accountIds],
  );
  return rows.map(({ id }) => id);
}

/** Number of open calls of each of these agents; agents without any are left out. */
export async function countRunningOf(sql: Sql, ids: readonly string[]): Promise<Map<string, number>> {
  const rows = await sql.query<{ id: string; running: number }>(
    'count-running-of',
    `select agent_id as id, count(*)::int as running from invocation
      where agent_id = any($1) and status in ('pending', 'processing') group by agent_id`,
    [ids],
  );
  return new Map(rows.map(({ id, running }) => [id, running]));
}
