import type { CallUsage } from '@agent-network/contracts/invocations/usage';
import type { Sql, Tx } from '../../store/sql.ts';

/** Bytes of the output that callers of these requests were shown: texts of chunks, without the JSON around them. */
export async function readShownBytes(tx: Tx, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  if (ids.length === 0) return new Map();
  const rows = await tx.query<{ id: string; bytes: bigint }>(
    'read-shown-bytes',
    `select invocation_id as id, sum(greatest(0, coalesce(bytes, octet_length(data::text)) - octet_length('{"chunk":""}'))) as bytes
       from invocation_chunk where invocation_id = any($1) and type = 'invocation.chunk' group by invocation_id`,
    [ids],
  );
  return new Map(rows.map(({ id, bytes }) => [id, Number(bytes)]));
}

/** A former call with usage. */
export interface RecentUsage {
  readonly usage: CallUsage;
  readonly costMicro: bigint | null;
}

/** The last completed calls of an agent with usage, before a time where one is given. */
export const listRecentUsage = (
  sql: Sql,
  agentId: string,
  { limit, before = null }: { readonly limit: number; readonly before?: Date | null },
): Promise<RecentUsage[]> =>
  sql.query<RecentUsage>(
    'list-recent-usage',
    `select usage, cost_micro as "costMicro" from invocation
      where agent_id = $1 and usage is not null and status = 'completed' and ($3::timestamptz is null or completed_at < $3)
      order by completed_at desc limit $2`,
    [agentId, limit, before],
  );
