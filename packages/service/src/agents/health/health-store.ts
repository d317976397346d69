import type { Sql } from '../../store/sql.ts';

export interface HealthRow {
  readonly start: Date;
  readonly checks: bigint;
  readonly failed: bigint;
  /** Histogram of response times, keyed by the step of `duration_bin`. */
  readonly times: Readonly<Record<string, number>>;
}

/** Sums of an agent's checks since the beginning of an hour or day. */
export const listHealth = (sql: Sql, agentId: string, span: 'hour' | 'day', since: Date): Promise<HealthRow[]> =>
  sql.query<HealthRow>(
    'list-health',
    `select start, sum(checks)::bigint as checks, sum(failed)::bigint as failed, json_object_agg(bin, checks) as times
       from agent_health where agent_id = $1 and span = $2 and start >= $3 group by start`,
    [agentId, span, since],
  );
