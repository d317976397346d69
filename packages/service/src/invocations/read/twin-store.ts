import type { Sql } from '../../db/sql.ts';

/** What a repeated call has in common with the first one. */
export interface TwinQuery {
  readonly accountId: string;
  readonly callerAgentId: string | null;
  readonly agentId: string;
  readonly task: string;
  readonly context: string | null;
  /** As JSON. */
  readonly input: string;
  readonly since: Date;
}

/** The newest request like this; null: none. */
export async function findNewestTwin(sql: Sql, twin: TwinQuery): Promise<string | null> {
  const [row] = await sql.query<{ id: string }>(
    'find-newest-twin',
    `select id from invocation
      where account_id = $1 and created_at > $2 and caller_agent_id is not distinct from $3 and agent_id = $4 and task = $5
        and context is not distinct from $6 and input::text = $7
      order by created_at desc, id limit 1`,
    [twin.accountId, twin.since, twin.callerAgentId, twin.agentId, twin.task, twin.context, twin.input],
  );
  return row?.id ?? null;
}
