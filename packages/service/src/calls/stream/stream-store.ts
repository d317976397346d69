import type { StreamEventType } from '@agent-network/contracts/invocations/stream-event-types';
import type { Sql } from '../../store/sql.ts';

export interface Chunk {
  readonly position: number;
  readonly type: Extract<StreamEventType, 'invocation.status' | 'invocation.chunk' | 'invocation.input_required'>;
  readonly data: unknown;
  readonly createdAt: Date;
}

/** A chunk with its data as JSON, encoded once. */
export interface EncodedChunk extends Chunk {
  readonly json: string;
}

/** The next chunks of a request's agent. */
export interface Append {
  readonly request: { readonly id: string; readonly attempt: number; readonly accountId: string };
  readonly chunks: readonly EncodedChunk[];
  /** True when these chunks are output: once stored, the caller can read it and has to pay for it. */
  readonly isOutput: boolean;
}

/** Appends chunks, but not to a request that another attempt has. Returns the ids of those appended to. */
export async function appendChunks(sql: Sql, appends: readonly Append[]): Promise<Set<string>> {
  const rows = appends.flatMap(({ request, chunks }) => chunks.map((chunk) => ({ ...chunk, requestId: request.id })));
  const stored = await sql.query<{ id: string }>(
    'append-chunks',
    // Locked against an update of its own below, and so that the request can't end between this read and the commit, after which its readers have got the terminal event.
    `with open as (
       select v.id, v.account_id from invocation v join unnest($1::text[], $2::int[]) as r(id, attempt) on v.id = r.id and v.attempt = r.attempt
        where v.status = 'processing' for no key update of v
     ), shown as (
       update invocation v set shown_at = now() from open join unnest($1::text[], $8::boolean[]) as r(id, is_output) on r.id = open.id
        where v.id = open.id and r.is_output and v.shown_at is null and not v.is_held_back
     ), stored as (
     insert into invocation_chunk (invocation_id, position, type, data, created_at, bytes)
     select open.id, c.position, c.type, c.data::json, c.created_at, octet_length(c.data)
       from unnest($3::text[], $4::int[], $5::text[], $6::text[], $7::timestamptz[]) as c(id, position, type, data, created_at)
       join open on open.id = c.id
     on conflict do nothing returning invocation_id as id, bytes
     ), counted as (
       insert into storage_change (account_id, bytes)
       select open.account_id, sum(stored.bytes) from stored join open on open.id = stored.id group by open.account_id
     )
     select distinct id from stored`,
    [
      appends.map(({ request }) => request.id),
      appends.map(({ request }) => request.attempt),
      rows.map((row) => row.requestId),
      rows.map((row) => row.position),
      rows.map((row) => row.type),
      rows.map((row) => row.json),
      rows.map((row) => row.createdAt),
      appends.map(({ isOutput }) => isOutput),
    ],
  );
  return new Set(stored.map(({ id }) => id));
}

/** The chunks stored after a position, in order. */
export const readChunks = (sql: Sql, requestId: string, after: number, limit: number): Promise<Chunk[]> =>
  sql.query<Chunk>(
    'read-chunks',
    `select position, type, data, created_at as "createdAt" from invocation_chunk
      where invocation_id = $1 and position > $2 order by position limit $3`,
    [requestId, after, limit],
  );

/** A reader's position in a request. */
export interface StreamPosition {
  readonly requestId: string;
  readonly after: number;
}

/** SQL: true for a question, which is shown although the chunks of the request are withheld. */
const IS_QUESTION = `type = 'invocation.input_required'`;

export interface ChunkPage {
  readonly chunks: readonly Chunk[];
  /** True when no chunk is left behind the page. */
  readonly isWhole: boolean;
}

/** The next chunks for each position, up to a size; at least one, if there is one. */
export async function readChunkPages(
  sql: Sql,
  positions: readonly StreamPosition[],
  page: { chunks: number; bytes: number; withheld: readonly string[] },
): Promise<ChunkPage[]> {
  const rows = await sql.query<Chunk & { nth: bigint; bytes: bigint }>(
    'read-chunk-pages',
    // Sizes first: chunks that exceed the page are not even read.
    `select r.nth, c.position, c.type, c.data, c.created_at as "createdAt", p.bytes
       from unnest($1::text[], $2::int[]) with ordinality as r(id, after, nth)
       cross join lateral (
         select position, own, sum(own) over (order by position) as bytes from (
           select position, coalesce(bytes, octet_length(data::text)) as own
             from invocation_chunk where invocation_id = r.id and position > r.after and (r.id <> all($5) or ${IS_QUESTION})
              order by position limit $3) next
       ) p
       join invocation_chunk c on c.invocation_id = r.id and c.position = p.position
      where p.bytes - p.own < $4
      order by r.nth, c.position`,
    [
      positions.map(({ requestId }) => requestId),
      positions.map(({ after }) => after),
      page.chunks,
      page.bytes,
      page.withheld,
    ],
  );
  const pages = Map.groupBy(rows, ({ nth }) => Number(nth));
  return positions.map((_, index) => {
    const chunks = pages.get(index + 1) ?? [];
    const isFull = chunks.length === page.chunks || (chunks.at(-1)?.bytes ?? 0n) >= page.bytes;
    return { chunks, isWhole: !isFull };
  });
}

/** Progress mark of each request: its process, and its number of chunks. */
export const readMarks = (
  sql: Sql,
  requestIds: readonly string[],
): Promise<{ id: string; worker: string | null; status: string; said: number }[]> =>
  sql.query(
    'read-marks',
    `select v.id, v.worker, v.status, coalesce(c.position, 0) as said
       from invocation v
       left join lateral (select position from invocation_chunk where invocation_id = v.id order by position desc limit 1) c on true
      where v.id = any($1)`,
    [requestIds],
  );

/** Number of chunks of each request, which is the position of the last; of those withheld, the position of the last question. */
export async function countChunks(
  sql: Sql,
  requestIds: readonly string[],
  withheld: readonly string[] = [],
): Promise<Map<string, number>> {
  const rows = await sql.query<{ id: string; count: number }>(
    'count-chunks',
    `select invocation_id as id, max(position) as count from invocation_chunk
      where invocation_id = any($1) and (invocation_id <> all($2) or ${IS_QUESTION}) group by invocation_id`,
    [requestIds, withheld],
  );
  return new Map(rows.map(({ id, count }) => [id, count]));
}

/** Number and bytes of a request's chunks. */
export async function measureChunks(sql: Sql, requestId: string): Promise<{ count: number; bytes: number }> {
  const [row] = await sql.query<{ count: number | null; bytes: bigint | null }>(
    'measure-chunks',
    `select max(position) as count, sum(coalesce(bytes, octet_length(data::text))) as bytes
       from invocation_chunk where invocation_id = $1`,
    [requestId],
  );
  return { count: row?.count ?? 0, bytes: Number(row?.bytes ?? 0n) };
}
