import type { Sql } from '../db/sql.ts';

export interface UsageRow {
  readonly date: string;
  readonly requests: bigint;
  readonly completed: bigint;
  readonly failed: bigint;
  readonly spentMicro: bigint;
}

const counts = `count(*) as requests, count(*) filter (where status = 'completed') as completed,
  count(*) filter (where status = 'failed') as failed, coalesce(sum(cost_micro), 0)::bigint as "spentMicro"`;

/** What an account asked for since the beginning of a day (UTC), by the day of the request. */
export const listUsageRows = (sql: Sql, accountId: string, since: Date): Promise<UsageRow[]> =>
  sql.query<UsageRow>(
    'list-usage',
    `select to_char(created_at at time zone 'UTC', 'YYYY-MM-DD') as date, ${counts}
       from invocation where account_id = $1 and created_at >= $2 group by 1`,
    [accountId, since],
  );

export interface AgentUsageRow extends Omit<UsageRow, 'date'> {
  readonly agentId: string;
  readonly agentName: string;
}

/** The agents that an account spent most on since then, at most `limit`. */
export const listAgentUsage = (sql: Sql, accountId: string, since: Date, limit: number): Promise<AgentUsageRow[]> =>
  sql.query<AgentUsageRow>(
    'list-agent-usage',
    `select u.*, g.name as "agentName" from (
       select agent_id as "agentId", ${counts} from invocation where account_id = $1 and created_at >= $2
        group by 1 order by "spentMicro" desc, requests desc, 1 limit $3
     ) u join agent g on g.id = u."agentId" order by "spentMicro" desc, requests desc, "agentId"`,
    [accountId, since, limit],
  );
