import type { Sql } from '../../db/sql.ts';
import type { PagePosition } from '../../lib/page-position.ts';

export interface ExportQuery {
  readonly accountId: string;
  /** Restricts an agent to its own requests. */
  readonly callerAgentId: string | null;
  /** Contents of requests created before this time have been removed. */
  readonly since: Date;
  readonly after: PagePosition | null;
  readonly limit: number;
}

/** Ended requests whose contents are still there, oldest first. The page begins a range of the index, at any depth. */
export const findEnded = (sql: Sql, query: ExportQuery): Promise<{ readonly id: string }[]> =>
  sql.query<{ id: string }>(
    'find-ended',
    `select id from invocation
      where account_id = $1 and ($2::text is null or caller_agent_id = $2) and created_at >= $3
        and completed_at is not null and content_removed_at is null
        and created_at >= $4 and (created_at > $4 or id < $5)
      order by created_at, id desc limit $6`,
    [
      ...[query.accountId, query.callerAgentId, query.since],
      ...[query.after?.createdAt ?? '-infinity', query.after?.id ?? '', query.limit],
    ],
  );
