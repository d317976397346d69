import type { StreamEventType } from '@agent-network/contracts/invocations';
import type { Sql } from '../db/sql.ts';

export interface Chunk {
  readonly position: number;
  readonly type: Extract<StreamEventType, 'invocation.status' | 'invocation.chunk'>;
  readonly data: unknown;
  readonly createdAt: Date;
}

/** Appends what an agent said; nothing when this attempt no longer has the request. Returns whether it was stored. */
export async function appendChunks(
  sql: Sql,
  request: { id: string; attempt: number },
  chunks: readonly Chunk[],
): Promise<boolean> {
  const rows = await sql.query(
    'append-chunks',
    // Locked, so that a request can't end between this look and the commit: its readers have been told of the end by then.
    `with open as (
       select id from invocation where id = $1 and attempt = $2 and status = 'processing' for share
     )
     insert into invocation_chunk (invocation_id, position, type, data, created_at)
     select open.id, c.position, c.type, c.data::json, c.created_at
       from open, unnest($3::int[], $4::text[], $5::text[], $6::timestamptz[]) as c(position, type, data, created_at)
     on conflict do nothing returning position`,
    [
      request.id,
      request.attempt,
      chunks.map((c) => c.position),
      chunks.map((c) => c.type),
      chunks.map((c) => JSON.stringify(c.data)),
      chunks.map((c) => c.createdAt),
    ],
  );
  return rows.length > 0;
}

/** What was stored after a position, in order. */
export const readChunks = (sql: Sql, requestId: string, after: number, limit: number): Promise<Chunk[]> =>
  sql.query<Chunk>(
    'read-chunks',
    `select position, type, data, created_at as "createdAt" from invocation_chunk
      where invocation_id = $1 and position > $2 order by position limit $3`,
    [requestId, after, limit],
  );

/** How many there are: the number of the last. */
export async function countChunks(sql: Sql, requestId: string): Promise<number> {
  const [row] = await sql.query<{ count: number }>(
    'count-chunks',
    'select coalesce(max(position), 0) as count from invocation_chunk where invocation_id = $1',
    [requestId],
  );
  return row?.count ?? 0;
}
