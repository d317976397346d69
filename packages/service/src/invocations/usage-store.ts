import type { Sql } from '../db/sql.ts';

/** Of what has not ended the figures know nothing yet. There is never much of it, whatever the account did before. */
const open = `select created_at, agent_id from invocation
  where account_id = $1 and created_at >= $2 and status in ('pending', 'processing')`;

/** Requests of an account since then that have not ended, by the day of the request (UTC). */
export const countOpenByDay = (
  sql: Sql,
  accountId: string,
  since: Date,
): Promise<{ date: string; requests: bigint }[]> =>
  sql.query(
    'count-open-by-day',
    `select to_char(created_at at time zone 'UTC', 'YYYY-MM-DD') as date, count(*) as requests from (${open}) o group by 1`,
    [accountId, since],
  );

export interface AgentUseRow {
  readonly agentId: string;
  readonly agentName: string;
  readonly requests: bigint;
  readonly completed: bigint;
  readonly failed: bigint;
  readonly spentMicro: bigint;
}

/** The agents that an account spent most on since a day began, at most `limit`. */
export const listAgentUse = (sql: Sql, accountId: string, since: Date, limit: number): Promise<AgentUseRow[]> =>
  sql.query<AgentUseRow>(
    'list-agent-use',
    `with used as (
       select agent_id, calls, completed, failed, spent_micro from agent_use where account_id = $1 and day >= $2
       union all
       select agent_id, calls, completed, failed, spent_micro from call_change where account_id = $1 and made_at >= $2
       union all
       select agent_id, 1, 0, 0, 0 from (${open}) o
     )
     select u.*, g.name as "agentName" from (
       select agent_id as "agentId", sum(calls)::bigint as requests, sum(completed)::bigint as completed, sum(failed)::bigint as failed,
              sum(spent_micro)::bigint as "spentMicro"
         from used group by 1 order by "spentMicro" desc, requests desc, 1 limit $3
     ) u join agent g on g.id = u."agentId" order by "spentMicro" desc, requests desc, "agentId"`,
    [accountId, since, limit],
  );
