import type { FileStoreName } from '../config/files.ts';
import type { PagePosition } from '../lib/page-position.ts';
import type { Sql, Tx } from '../store/sql.ts';
import type { FilePlace, FileRow } from './file.ts';

const FILE = `f.owner_id as "ownerId", f.sha256, f.blob_id as "blobId", b.size::float8 as size, f.media_type as "mediaType", f.name,
  f.created_at as "createdAt", f.expires_at as "expiresAt"`;
export const PLACE = `${FILE}, b.store, b.piece_bytes as "pieceBytes", b.piece_hashes as "pieceHashes"`;
export const FROM = 'from file f join file_blob b on b.id = f.blob_id';

/** Lets uploads of an account begin one after the other, until the transaction ends. */
export const lockUploads = async (tx: Tx, accountId: string): Promise<void> =>
  void (await tx.query('lock-uploads', `select pg_advisory_xact_lock(hashtextextended('upload ' || $1, 0))`, [
    accountId,
  ]));

interface UploadState {
  readonly stored: number;
  readonly arriving: number;
  readonly isThere: boolean;
}

/** Stored bytes and running uploads of an account, and whether the owner has this content already. */
export async function findUploadState(
  tx: Tx,
  {
    accountId,
    ownerId,
    sha256,
  }: { readonly accountId: string; readonly ownerId: string; readonly sha256: Buffer | null },
): Promise<UploadState> {
  const [row] = await tx.query<UploadState>(
    'find-upload-state',
    `select (coalesce((select bytes from account_storage where account_id = $1), 0)
             + coalesce((select sum(bytes) from storage_change where account_id = $1), 0))::float8 as stored,
            (select count(*)::int from file_blob where account_id = $1 and state = 'arriving' and request_id is null) as arriving,
            exists (select from file where owner_id = $2 and sha256 = $3) as "isThere"`,
    [accountId, ownerId, sha256],
  );
  return row as UploadState;
}

export interface NewBlob {
  readonly id: string;
  readonly ownerId: string;
  readonly accountId: string;
  /** The request that has it in its result; absent: an upload. */
  readonly requestId?: string;
  readonly store: FileStoreName;
  readonly size: number;
  readonly pieceBytes: number;
  readonly countedBytes: number;
  readonly dueAt: Date;
}

/** Notes an upload, and counts its bytes as stored. */
export async function insertBlob(tx: Tx, blob: NewBlob): Promise<void> {
  await tx.query(
    'insert-file-blob',
    `with counted as (insert into storage_change (account_id, bytes) values ($3, $7::bigint))
     insert into file_blob (id, owner_id, account_id, store, state, size, piece_bytes, counted_bytes, due_at, request_id)
     values ($1, $2, $3, $4, 'arriving', $5, $6, $7, $8, $9)`,
    [
      ...[blob.id, blob.ownerId, blob.accountId, blob.store, blob.size, blob.pieceBytes, blob.countedBytes, blob.dueAt],
      blob.requestId ?? null,
    ],
  );
}

/** Keeps the content of an upload. Returns false if it was given up meanwhile. */
export async function keepBlob(tx: Tx, id: string, pieceHashes: Buffer): Promise<boolean> {
  const rows = await tx.query(
    'keep-file-blob',
    `update file_blob set state = 'kept', due_at = null, piece_hashes = $2 where id = $1 and state = 'arriving' returning 1`,
    [id, pieceHashes],
  );
  return rows.length > 0;
}

/** Inserts a file; null: the owner has it already. */
export async function insertFile(tx: Tx, file: Omit<FileRow, 'size'>): Promise<Pick<FileRow, 'blobId'> | null> {
  const [row] = await tx.query<{ blobId: string }>(
    'insert-file',
    `insert into file (owner_id, sha256, blob_id, media_type, name, created_at, expires_at) values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (owner_id, sha256) do nothing returning blob_id as "blobId"`,
    [file.ownerId, file.sha256, file.blobId, file.mediaType, file.name, file.createdAt, file.expiresAt],
  );
  return row ?? null;
}

/** Gives a file that the owner has already the type and name of the last upload that has one, and the later end. Returns it. */
export async function renewFile(tx: Tx, file: Omit<FileRow, 'size' | 'blobId' | 'createdAt'>): Promise<FileRow> {
  const [row] = await tx.query<FileRow>(
    'renew-file',
    `update file f
        set media_type = case when $3 = 'application/octet-stream' then f.media_type else $3 end, name = coalesce($4, f.name),
            expires_at = greatest(f.expires_at, $5)
       from file_blob b where b.id = f.blob_id and f.owner_id = $1 and f.sha256 = $2
     returning ${FILE}`,
    [file.ownerId, file.sha256, file.mediaType, file.name, file.expiresAt],
  );
  return row as FileRow;
}

/** Statement that has contents leave their stores from `$1` on, and no longer counts them. `gone`: their ids. */
const LEAVE = `left_blobs as (
       update file_blob b set state = 'leaving', due_at = $1 from gone where b.id = gone.blob_id and b.state <> 'leaving'
       returning b.account_id, b.counted_bytes
     ), counted as (
       insert into storage_change (account_id, bytes)
       select account_id, -sum(counted_bytes) from left_blobs group by account_id having sum(counted_bytes) > 0
     )
     select count(*)::int as count from gone`;

interface Counted {
  readonly count: number;
}

export async function leaveBlob(sql: Sql, id: string, now: Date): Promise<void> {
  await sql.query('leave-file-blob', `with gone as (select $2::text as blob_id), ${LEAVE}`, [now, id]);
}

/** Deletes a file. Returns false if the owner has no such file. */
export async function deleteFileRow(sql: Sql, ownerId: string, sha256: Buffer, now: Date): Promise<boolean> {
  const [row] = await sql.query<Counted>(
    'delete-file',
    `with gone as (delete from file where owner_id = $2 and sha256 = $3 returning blob_id), ${LEAVE}`,
    [now, ownerId, sha256],
  );
  return (row?.count ?? 0) > 0;
}

/** Deletes files at their end. Returns their number. */
export async function deleteExpired(sql: Sql, now: Date, most: number): Promise<number> {
  const [row] = await sql.query<Counted>(
    'delete-expired-files',
    `with due as (
       select owner_id, sha256 from file where expires_at < $1 order by expires_at limit $2 for update skip locked
     ), gone as (
       delete from file f using due where f.owner_id = due.owner_id and f.sha256 = due.sha256 returning f.blob_id
     ), ${LEAVE}`,
    [now, most],
  );
  return row?.count ?? 0;
}

/** Gives up uploads that did not become whole in time. Returns their number. */
export async function giveUpLate(sql: Sql, now: Date, most: number): Promise<number> {
  const [row] = await sql.query<Counted>(
    'give-up-uploads',
    `with gone as (
       select id as blob_id from file_blob where state = 'arriving' and due_at < $1 order by due_at limit $2 for update skip locked
     ), ${LEAVE}`,
    [now, most],
  );
  return row?.count ?? 0;
}

export interface LeavingBlob {
  readonly id: string;
  readonly store: FileStoreName;
  readonly pieces: number;
}

/** Contents to remove, which other processes leave alone until `until`. */
export const claimLeaving = (
  sql: Sql,
  { now, until, most }: { readonly now: Date; readonly until: Date; readonly most: number },
): Promise<LeavingBlob[]> =>
  sql.query<LeavingBlob>(
    'claim-leaving-blobs',
    `update file_blob set due_at = $2 where id in (
       select id from file_blob where state = 'leaving' and due_at <= $1 order by due_at limit $3 for update skip locked)
     returning id, store, ceil(size::numeric / piece_bytes)::int as pieces`,
    [now, until, most],
  );

/** Deletes the row of a content that its store no longer has. */
export const forgetBlob = async (sql: Sql, id: string): Promise<void> =>
  void (await sql.query('forget-file-blob', `delete from file_blob where id = $1 and state = 'leaving'`, [id]));

export const HAS_FILES_DUE = `(select min(due_at) from file_blob where due_at is not null) <= given.now
   or (select min(expires_at) from file) <= given.now`;

export async function findFile(sql: Sql, ownerId: string, sha256: Buffer): Promise<FilePlace | null> {
  const [row] = await sql.query<FilePlace>(
    'find-file',
    `select ${PLACE} ${FROM} where f.owner_id = $1 and f.sha256 = $2`,
    [ownerId, sha256],
  );
  return row ?? null;
}

/** The file that an upload made; null: it was deleted, or the request that reads it was cancelled. */
export async function findFileByBlob(sql: Sql, blobId: string, requestId: string | null): Promise<FilePlace | null> {
  const [row] = await sql.query<FilePlace>(
    'find-file-by-blob',
    `select ${PLACE} ${FROM} where f.blob_id = $1
       and not exists (select from invocation where id = $2 and status = 'cancelled')`,
    [blobId, requestId],
  );
  return row ?? null;
}

/** Keeps files of an owner at least until a time. Returns the hashes of those that there are. */
export async function keepFiles(sql: Sql, ownerId: string, hashes: readonly Buffer[], until: Date): Promise<Buffer[]> {
  const rows = await sql.query<{ sha256: Buffer }>(
    'keep-files',
    `update file set expires_at = greatest(expires_at, $3) where owner_id = $1 and sha256 = any($2) returning sha256`,
    [ownerId, hashes, until],
  );
  return rows.map(({ sha256 }) => sha256);
}

export const findFiles = (sql: Sql, ownerId: string, hashes: readonly Buffer[]): Promise<FileRow[]> =>
  sql.query<FileRow>('find-files', `select ${FILE} ${FROM} where f.owner_id = $1 and f.sha256 = any($2)`, [
    ownerId,
    hashes,
  ]);

/** Files of an owner, newest first, after a position. */
export const listFileRows = (
  sql: Sql,
  ownerId: string,
  { after, most }: { readonly after: PagePosition | null; readonly most: number },
): Promise<FileRow[]> =>
  sql.query<FileRow>(
    after ? 'list-files-after' : 'list-files',
    `select ${FILE} ${FROM} where f.owner_id = $1${after ? ' and (f.created_at, f.blob_id) < ($3, $4)' : ''}
      order by f.created_at desc, f.blob_id desc limit $2`,
    [ownerId, most, ...(after ? [after.createdAt, after.id] : [])],
  );
