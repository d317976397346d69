import type { Plan } from '@agent-network/contracts/access/access';
import type { Sql, Statement, Tx } from '../store/sql.ts';
import type { FilePlace, ResultFile } from './file.ts';
import { FROM, PLACE } from './file-store.ts';

interface Room {
  readonly stored: number;
  readonly plan: Plan;
}

/** The stored bytes of an account, and its plan. */
export async function findRoom(tx: Tx, accountId: string): Promise<Room> {
  const [row] = await tx.query<Room>(
    'find-file-room',
    `select (coalesce((select bytes from account_storage where account_id = $1), 0)
             + coalesce((select sum(bytes) from storage_change where account_id = $1), 0))::float8 as stored,
            plan from account where id = $1`,
    [accountId],
  );
  return row as Room;
}

interface Measured {
  readonly size: number;
  readonly pieceHashes: Buffer;
  readonly countedBytes: number;
}

/** Notes the size and the pieces of a content that is stored, and counts that size. */
export async function measureBlob(sql: Sql, id: string, { size, pieceHashes, countedBytes }: Measured): Promise<void> {
  await sql.query(
    'measure-file-blob',
    `with before as (
       select id, counted_bytes from file_blob where id = $1 and state = 'arriving' for update
     ), measured as (
       update file_blob b set size = $2, piece_hashes = $3, counted_bytes = $4 from before where b.id = before.id
       returning b.account_id, $4::bigint - before.counted_bytes as more
     )
     insert into storage_change (account_id, bytes) select account_id, more from measured where more <> 0`,
    [id, size, pieceHashes, countedBytes],
  );
}

/**
 * Statement of the end of requests: the contents of their results become files of their callers, referred to by the requests. Where the
 * owner has such a file already, that one is kept for longer; contents that are of no use leave at once.
 */
export const keepResultFiles = (
  ends: readonly { readonly id: string; readonly files: readonly ResultFile[] }[],
  now: Date,
): Statement => {
  const rows = ends.flatMap(({ id, files }) => files.map((file) => ({ ...file, requestId: id })));
  const of = <T>(pick: (row: (typeof rows)[number]) => T) => rows.map(pick);
  return {
    name: 'keep-result-files',
    text: `with given as (
       select * from unnest($2::text[], $3::text[], $4::text[], $5::bytea[], $6::text[], $7::text[], $8::timestamptz[])
         as n(request_id, owner_id, blob_id, sha256, media_type, name, expires_at)
     ), stored as (
       insert into file as f (owner_id, sha256, blob_id, media_type, name, created_at, expires_at)
       select distinct on (g.owner_id, g.sha256) g.owner_id, g.sha256, g.blob_id, g.media_type, g.name, $1::timestamptz, g.expires_at
         from given g join file_blob b on b.id = g.blob_id and b.state = 'arriving' order by g.owner_id, g.sha256, g.expires_at desc
       on conflict (owner_id, sha256) do update set expires_at = greatest(f.expires_at, excluded.expires_at)
       returning blob_id
     ), kept as (
       update file_blob set state = 'kept', due_at = null where state = 'arriving' and id in (select blob_id from stored)
     ), left_blobs as (
       update file_blob set state = 'leaving', due_at = $1
        where request_id = any($2) and state = 'arriving' and id not in (select blob_id from stored)
       returning account_id, counted_bytes
     ), counted as (
       insert into storage_change (account_id, bytes)
       select account_id, -sum(counted_bytes) from left_blobs group by account_id
     )
     insert into result_file (request_id, owner_id, sha256) select distinct request_id, owner_id, sha256 from given
     on conflict do nothing`,
    params: [
      now,
      of((row) => row.requestId),
      of((row) => row.ownerId),
      of((row) => row.blobId),
      of((row) => row.sha256),
      of((row) => row.mediaType),
      of((row) => row.name),
      of((row) => row.expiresAt),
    ],
  };
};

/** A file of the result of a completed request; null: it has none of this hash, or it was deleted. */
export async function findResultFile(sql: Sql, requestId: string, sha256: Buffer): Promise<FilePlace | null> {
  const [row] = await sql.query<FilePlace>(
    'find-result-file',
    `select ${PLACE} ${FROM} join result_file r on r.owner_id = f.owner_id and r.sha256 = f.sha256
      where r.request_id = $1 and r.sha256 = $2`,
    [requestId, sha256],
  );
  return row ?? null;
}
