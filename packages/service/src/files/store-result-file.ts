import { notFound } from '../lib/app-error.ts';
import { newId } from '../lib/id.ts';
import { failpoint } from '../lib/process/failpoint.ts';
import type { Sql, Statement, Tx } from '../store/sql.ts';
import type { FilePlace, ResultFile } from './file.ts';
import type { FileServices } from './file-services.ts';
import { insertBlob } from './file-store.ts';
import { COUNTED_MORE, giveUp, storePieces } from './receive-file.ts';
import { findResultFile, findRoom, keepResultFiles, measureBlob } from './result-file-store.ts';

export type ResultFileContext = Pick<
  FileServices,
  'db' | 'clock' | 'log' | 'pieceStores' | 'uploadRoom' | 'storageLimits' | 'maxFileBytes'
>;

/** The request, and the owner of the files of its result. */
export interface ResultFileOwner {
  readonly requestId: string;
  readonly accountId: string;
  readonly ownerId: string;
  /** Time from which a content is removed if its request has not completed. */
  readonly dueAt: Date;
  readonly expiresAt: Date;
}

interface NewContent extends Pick<ResultFile, 'mediaType' | 'name'> {
  readonly pieces: AsyncIterable<Uint8Array>;
  /** null: unknown. */
  readonly size: number | null;
  /** Most bytes, where the size is unknown. */
  readonly most: number;
  /** True for what came with the answer: like the answer itself, it is stored though the account be over its limit. */
  readonly mayExceed: boolean;
}

/**
 * Stores a content of a result. The end of its request makes it a file of the caller. Without that end it is removed when it is due, also
 * after this process dies. Resolves null, with nothing stored, if it is too large for the storage of the account.
 */
export async function storeResultFile(
  ctx: ResultFileContext,
  { requestId, accountId, ownerId, dueAt, expiresAt }: ResultFileOwner,
  { pieces, size, most, mediaType, name, mayExceed }: NewContent,
): Promise<ResultFile | null> {
  const store = ctx.pieceStores.current;
  const blob = {
    ...{ id: newId('upl'), ownerId, accountId, requestId, store: store.name, pieceBytes: store.pieceBytes, dueAt },
    ...{ size: size ?? most, countedBytes: (size ?? most) + COUNTED_MORE },
  };
  failpoint('before-file-begin-commit');
  const isBegun = await ctx.db.transaction(async (tx) => {
    if (!mayExceed && !(await hasRoom(ctx, tx, blob))) return false;
    await insertBlob(tx, blob);
    return true;
  });
  failpoint('after-file-begin-commit');
  if (!isBegun) return null;
  try {
    const bounds = { least: size ?? 0, most: size ?? most };
    const stored = await storePieces(ctx, { id: blob.id, store, accountId }, pieces, bounds);
    await measureBlob(ctx.db, blob.id, { ...stored, countedBytes: stored.size + COUNTED_MORE });
    return { blobId: blob.id, ownerId, sha256: stored.sha256, size: stored.size, mediaType, name, expiresAt };
  } catch (error) {
    await giveUp(ctx, blob.id);
    throw error;
  }
}

async function hasRoom(
  { storageLimits }: ResultFileContext,
  tx: Tx,
  { accountId, countedBytes }: { readonly accountId: string; readonly countedBytes: number },
): Promise<boolean> {
  const { stored, plan } = await findRoom(tx, accountId);
  return stored + countedBytes <= storageLimits[plan];
}

interface EndedRequest {
  readonly id: string;
  readonly files: readonly ResultFile[];
}

/** The statement of an end that makes contents of results files of their callers; none where there are no such contents. */
export function resultFilesKept(ended: readonly EndedRequest[], now: Date): Statement[] {
  const withFiles = ended.filter(({ files }) => files.length > 0);
  return withFiles.length === 0 ? [] : [keepResultFiles(withFiles, now)];
}

/** A file of the result of a request that completed. Throws NOT_FOUND if it has no such file, or the file was deleted. */
export async function requireResultFile(sql: Sql, requestId: string, sha256: Buffer): Promise<FilePlace> {
  const file = await findResultFile(sql, requestId, sha256);
  if (!file) throw notFound('file');
  return file;
}
