import { KEPT_TASK_CHARACTERS } from '@agent-network/contracts/invocations/invocations';
import type { Sql, Tx } from '../store/sql.ts';
import { namedByA2a } from './invocation-store.ts';

/** Bytes stored for the requests of an account. */
export async function storedBytes(sql: Sql, accountId: string): Promise<bigint> {
  const [row] = await sql.query<{ bytes: bigint }>(
    'stored-bytes',
    `select (coalesce((select bytes from account_storage where account_id = $1), 0)
             + coalesce((select sum(bytes) from storage_change where account_id = $1), 0))::bigint as bytes`,
    [accountId],
  );
  return row?.bytes ?? 0n;
}

export const HAS_STORAGE_CHANGES = 'exists (select from storage_change)';

/** Adds the oldest changes to the sums of their accounts. Returns their number. */
export async function aggregateStorage(tx: Tx, most: number): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    'fold-storage',
    `with gone as (
       delete from storage_change where id in (select id from storage_change order by id limit $1) returning account_id, bytes
     ), folded as (
       insert into account_storage as s (account_id, bytes)
       select account_id, sum(bytes) from gone group by account_id order by account_id
       on conflict (account_id) do update set bytes = s.bytes + excluded.bytes
     )
     select count(*)::int as count from gone`,
    [most],
  );
  return row?.count ?? 0;
}

/** Most bytes of contents, as stored, that one removal reads. */
const MAX_READ_BYTES = 16 * 1024 * 1024;
/** Size above which metadata is removed, except the fields of A2A. */
const KEPT_METADATA_BYTES = 4096;
const NAMED_BY_A2A = `json_strip_nulls(json_build_object('contextId', ${namedByA2a('contextId')}, 'messageId', ${namedByA2a('messageId')}))`;

const STORED_BYTES = `pg_column_size(task) + pg_column_size(input) + pg_column_size(metadata) + coalesce(pg_column_size(context), 0)
  + coalesce(pg_column_size(result), 0)`;

const CHUNKS_OF_DUE = `, chunks as (
       delete from invocation_chunk c using due where c.invocation_id = due.id
       returning due.account_id, coalesce(c.bytes, octet_length(c.data::text)) as bytes
     ), files as (
       delete from file f using named n
        where f.owner_id = n.owner_id and f.sha256 = n.sha256
          and not exists (select from result_file o where o.owner_id = f.owner_id and o.sha256 = f.sha256
                             and o.request_id not in (select id from due))
       returning f.blob_id
     ), blobs as (
       update file_blob b set state = 'leaving', due_at = $2 from files where b.id = files.blob_id and b.state <> 'leaving'
       returning b.account_id, b.counted_bytes as bytes
     )`;

/**
 * Removes input, context and result of requests that ended before a time, long parts of their tasks and metadata, and the records of
 * sending them, with questions and answers. Status, cost, the context and message of A2A, and the content of receipts stay. Returns the number of requests: at most
 * `most`, and at least one if any is due.
 */
export const removeContents = (tx: Tx, endedBefore: Date, now: Date, most: Most): Promise<number> =>
  removeDue(tx, [endedBefore, now], most, null);

/** Removes contents of some accounts' requests, with the chunks of their streams and the files of their results. */
export const removeContentsOf = (
  tx: Tx,
  accountIds: readonly string[],
  { endedBefore, now }: { readonly endedBefore: Date; readonly now: Date },
  most: Most,
): Promise<number> => removeDue(tx, [endedBefore, now], most, accountIds);

interface Most {
  readonly most: number;
  readonly mostBytes?: number;
}

async function removeDue(
  tx: Tx,
  times: readonly [endedBefore: Date, now: Date],
  { most, mostBytes = MAX_READ_BYTES }: Most,
  accountIds: readonly string[] | null,
): Promise<number> {
  const isSome = accountIds !== null;
  const [row] = await tx.query<{ count: number }>(
    isSome ? 'remove-contents-of' : 'remove-contents',
    `with oldest as (
       select id, account_id, task, input, metadata, context, result, counted_bytes, completed_at from invocation
        where completed_at < $1 and completed_at is not null and content_removed_at is null${isSome ? ' and account_id = any($5)' : ''}
        order by completed_at limit $3 for update skip locked
     ), summed as (
       select *, sum(${STORED_BYTES}) over (order by completed_at, id) - (${STORED_BYTES}) as before from oldest
     ), due as (
       select id, account_id, length(task) > ${KEPT_TASK_CHARACTERS} as is_long,
              octet_length(metadata::text) > ${KEPT_METADATA_BYTES} as is_large,
              coalesce(counted_bytes, coalesce(octet_length(result::text), 0) + octet_length(input::text)) as bytes
         from summed where before < $4
     ), sent as (
       delete from upstream_call u using due where u.request_id = due.id
     ), named as (
       delete from result_file r using due where r.request_id = due.id returning r.owner_id, r.sha256
     ), asked as (
       delete from invocation_turn t using due where t.request_id = due.id returning due.account_id, t.bytes
     ), removed as (
       update invocation v
          set result = null, input = '{}', context = null, content_removed_at = $2,
              metadata = case when not due.is_large then v.metadata
                              when ${NAMED_BY_A2A}::text = '{}' then '{}' else json_build_object('a2a', ${NAMED_BY_A2A}) end,
              task = case when due.is_long then left(v.task, ${KEPT_TASK_CHARACTERS}) else v.task end,
              -- JSON of a string is canonical (RFC 8785) as PostgreSQL writes it.
              task_hash = case when due.is_long then sha256(convert_to(to_json(v.task)::text, 'UTF8')) end
         from due where v.id = due.id
     )${isSome ? CHUNKS_OF_DUE : ''}, counted as (
       insert into storage_change (account_id, bytes)
       select account_id, -sum(bytes) from (select account_id, bytes from due union all select * from asked${isSome ? ' union all select * from chunks union all select * from blobs' : ''}) gone group by account_id
     )
     select count(*)::int as count from due`,
    [...times, most, mostBytes, ...(isSome ? [accountIds] : [])],
  );
  return row?.count ?? 0;
}

/** Removes stream chunks older than a time. Returns their number. */
export async function removeChunks(tx: Tx, before: Date, most: number): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    'remove-chunks',
    `with gone as (
       delete from invocation_chunk c using (
         select invocation_id, position from invocation_chunk where created_at < $1 order by created_at limit $2) old
        where c.invocation_id = old.invocation_id and c.position = old.position
       returning c.invocation_id, coalesce(c.bytes, octet_length(c.data::text)) as bytes
     ), counted as (
       insert into storage_change (account_id, bytes)
       select v.account_id, -sum(gone.bytes) from gone join invocation v on v.id = gone.invocation_id group by v.account_id
     )
     select count(*)::int as count from gone`,
    [before, most],
  );
  return row?.count ?? 0;
}

/** Removes expired quotes. Returns their number. */
export async function removeQuotes(sql: Sql, expiredBefore: Date, most: number): Promise<number> {
  const rows = await sql.query(
    'remove-quotes',
    `delete from quote where id in (select id from quote where valid_until < $1 order by valid_until limit $2) returning 1`,
    [expiredBefore, most],
  );
  return rows.length;
}
