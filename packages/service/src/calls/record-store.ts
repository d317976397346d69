import { PreparedJson } from '../lib/json/prepared-json.ts';
import type { Sql } from '../store/sql.ts';
import type { Invocation } from './invocation.ts';
import { stateColumns } from './invocation-store.ts';

/** A request without its content. */
export type InvocationState = Omit<Invocation, 'input' | 'context' | 'result'>;

/** A request as its caller is shown it, with its result as stored. */
export interface InvocationRecord extends InvocationState {
  readonly result: PreparedJson | null;
  /** The newest progress report of its agent while it runs; null: none. Read for single records only. */
  readonly progress?: { readonly data: unknown; readonly at: string } | null;
}

export interface InvocationContent extends InvocationRecord {
  readonly input: PreparedJson;
  readonly context: string | null;
}

type Stored<T> = { [K in keyof T]: PreparedJson extends T[K] ? Exclude<T[K], PreparedJson> | string : T[K] };

const prepared = (text: string | null) => (text === null ? null : new PreparedJson(text));
const toRecord = <T extends { result: string | null }>(row: T) => ({ ...row, result: prepared(row.result) });

/** SQL: the newest report of progress among the last chunks of the row of a request. */
const PROGRESS = `case when status = 'processing' and not is_held_back then (select json_build_object('data', c.data, 'at', c.created_at) from (
    select type, data, created_at, position from invocation_chunk where invocation_id = invocation.id order by position desc limit 100
  ) c where c.type = 'invocation.status' order by c.position desc limit 1) end as progress`;

export async function findRecord(sql: Sql, id: string): Promise<InvocationRecord | null> {
  const [row] = await sql.query<Stored<InvocationRecord>>(
    'find-record',
    `select ${stateColumns}, result::text as result, ${PROGRESS} from invocation where id = $1`,
    [id],
  );
  return row ? toRecord(row) : null;
}

export async function findContent(sql: Sql, id: string): Promise<InvocationContent | null> {
  const [row] = await sql.query<Stored<InvocationContent>>(
    'find-content',
    `select ${stateColumns}, result::text as result, input::text as input, context, ${PROGRESS} from invocation where id = $1`,
    [id],
  );
  return row ? { ...toRecord(row), input: new PreparedJson(row.input) } : null;
}

export const findStates = (sql: Sql, ids: readonly string[]): Promise<InvocationState[]> =>
  sql.query<InvocationState>('find-states', `select ${stateColumns} from invocation where id = any($1)`, [ids]);

/** SQL: size of the parts of a record that callers and agents choose the length of. */
const recordBytes = 'coalesce(octet_length(v.result::text), 0) + octet_length(v.task) + octet_length(v.metadata::text)';

/** The first of these records, in order, until they fill the bytes, or one does not exist. */
async function findFirstRecords(sql: Sql, ids: readonly string[], maxBytes: number): Promise<InvocationRecord[]> {
  const rows = await sql.query<Stored<InvocationRecord>>(
    'find-first-records',
    // Recursive: a result behind a full page is not even read.
    `with recursive page as (
       select v.*, ${recordBytes} as bytes, 1 as nth from invocation v where v.id = ($1::text[])[1]
       union all
       select v.*, page.bytes + ${recordBytes}, page.nth + 1
         from page join invocation v on v.id = ($1::text[])[page.nth + 1] where page.bytes < $2
     )
     select ${stateColumns}, result::text as result from page order by nth`,
    [ids, maxBytes],
  );
  return rows.map(toRecord);
}

/** The first of these records, in order, until they fill the bytes. Null for one that does not exist. */
export async function findRecordsWithin(
  sql: Sql,
  ids: readonly string[],
  maxBytes: number,
): Promise<(InvocationRecord | null)[]> {
  const found = await findFirstRecords(sql, ids, maxBytes);
  return found.length === 0 && ids.length > 0 ? [null] : found;
}

/** The first of these requests with their contents, in order, until those fill the bytes; at least one. */
export async function findContentsWithin(
  sql: Sql,
  ids: readonly string[],
  maxBytes: number,
): Promise<InvocationContent[]> {
  const bytesOf = `${recordBytes} + octet_length(v.input::text) + coalesce(octet_length(v.context::text), 0)`;
  const rows = await sql.query<Stored<InvocationContent>>(
    'find-contents-within',
    `with recursive page as (
       select v.*, ${bytesOf} as bytes, 1 as nth from invocation v where v.id = ($1::text[])[1]
       union all
       select v.*, page.bytes + ${bytesOf}, page.nth + 1
         from page join invocation v on v.id = ($1::text[])[page.nth + 1] where page.bytes < $2
     )
     select ${stateColumns}, result::text as result, input::text as input, context from page order by nth`,
    [ids, maxBytes],
  );
  return rows.map((row) => ({ ...toRecord(row), input: new PreparedJson(row.input) }));
}

/** Bytes of records that one query reads; more would delay other work too long. */
const QUERY_BYTES = 1024 * 1024;

/** All of these records. */
export async function findRecords(sql: Sql, ids: readonly string[]): Promise<Map<string, InvocationRecord>> {
  const records = new Map<string, InvocationRecord>();
  const left = [...new Set(ids)];
  while (left.length > 0) {
    const found = await findRecordsWithin(sql, left, QUERY_BYTES);
    left.splice(0, found.length);
    for (const record of found) if (record) records.set(record.id, record);
  }
  return records;
}

/** The requests of a bulk request in the order of its agents; only the winner has its result. */
export async function findBulkRecords(sql: Sql, bulkId: string, winner: string | null): Promise<InvocationRecord[]> {
  const rows = await sql.query<Stored<InvocationRecord>>(
    'find-bulk-records',
    `select ${stateColumns}, case when id = $2 then result::text end as result
       from invocation where bulk_id = $1 order by id`,
    [bulkId, winner],
  );
  return rows.map(toRecord);
}
