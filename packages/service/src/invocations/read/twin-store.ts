import type { Sql } from '../../db/sql.ts';

/** Facts that a repeated call shares with the first one. */
export interface TwinQuery {
  readonly accountId: string;
  readonly callerAgentId: string | null;
  /** `auto`: any that the node has chosen. */
  readonly agentId: string;
  readonly task: string;
  readonly context: string | null;
  /** As JSON. */
  readonly input: string;
  readonly since: Date;
}

/** Requests of the account that are looked at, newest first: a repetition follows its first attempt soon. */
const MAX_READ = 1000;

/** The newest request like this among the newest of its account; null: none, or that one was given back (`wasGivenBack`). */
export async function findNewestTwin(sql: Sql, twin: TwinQuery): Promise<string | null> {
  const [row] = await sql.query<{ id: string }>(
    'find-newest-twin',
    `select id from (
       select id, status, cost_micro from (
         select id, created_at, caller_agent_id, agent_id, chosen, task, context, input, status, cost_micro from invocation
          where account_id = $1 and created_at > $2 order by created_at desc, id limit ${MAX_READ}) v
        where caller_agent_id is not distinct from $3 and case when $4 = 'auto' then chosen is not null else agent_id = $4 end and task = $5 and context is not distinct from $6
          and input::text = $7
        order by created_at desc, id limit 1) n
      where not (status in ('failed', 'cancelled') and coalesce(cost_micro, 0) = 0)`,
    [twin.accountId, twin.since, twin.callerAgentId, twin.agentId, twin.task, twin.context, twin.input],
  );
  return row?.id ?? null;
}
