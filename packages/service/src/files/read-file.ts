import { createHash } from 'node:crypto';
import type { FileDetail, StoredFile } from '@agent-network/contracts/files/files';
import type { KnownCaller } from '../accounts/caller.ts';
import { AppError, notFound } from '../lib/app-error.ts';
import { pageCursor, pageStartOf } from '../lib/page-position.ts';
import { failpoint } from '../lib/process/failpoint.ts';
import type { FilePlace } from './file.ts';
import type { FileServices } from './file-services.ts';
import { deleteFileRow, findFile, findFileByBlob, listFileRows } from './file-store.ts';
import { detailView, fileIdOf, fileView, isValidLink, readFileId } from './file-view.ts';
import { away, ownerOf } from './receive-file.ts';
import { findResultFile } from './result-file-store.ts';

const DEFAULT_PAGE = 20;

export async function listFiles(
  ctx: FileServices,
  caller: KnownCaller,
  { cursor, limit = DEFAULT_PAGE }: { readonly cursor?: string | undefined; readonly limit?: number | undefined },
): Promise<{ readonly files: StoredFile[]; readonly nextCursor: string | null }> {
  const rows = await listFileRows(ctx.db, ownerOf(caller), { after: pageStartOf({ cursor }), most: limit + 1 });
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return {
    files: shown.map(fileView),
    nextCursor: last ? pageCursor({ createdAt: last.createdAt, id: last.blobId }) : null,
  };
}

export async function readFileDetail(ctx: FileServices, caller: KnownCaller, fileId: string): Promise<FileDetail> {
  return detailView(ctx, await requireFile(ctx, caller, fileId), ctx.clock.now());
}

/** Deletes a file; its content leaves the store soon after. */
export async function deleteFile(ctx: FileServices, caller: KnownCaller, fileId: string) {
  const sha256 = readFileId(fileId);
  failpoint('before-file-leave-commit');
  if (!(await deleteFileRow(ctx.db, ownerOf(caller), sha256, ctx.clock.now()))) throw notFound('file');
  failpoint('after-file-leave-commit');
  return { fileId: fileIdOf(sha256), deleted: true as const };
}

/** Throws NOT_FOUND for a file that the caller does not have, whoever else may have it. */
export async function requireFile(ctx: FileServices, caller: KnownCaller, fileId: string): Promise<FilePlace> {
  const file = await findFile(ctx.db, ownerOf(caller), readFileId(fileId));
  if (!file) throw notFound('file');
  return file;
}

export interface FileLink {
  readonly request?: string | undefined;
  readonly upload?: string | undefined;
  readonly exp?: number | undefined;
  readonly sig?: string | undefined;
}

/** The file of a link. Throws NOT_FOUND if the link is not valid or has ended, the file was deleted, or its request was cancelled. */
export async function findLinked(
  ctx: FileServices,
  fileId: string,
  { request, upload, exp, sig }: FileLink,
): Promise<FilePlace> {
  const sha256 = readFileId(fileId);
  const isValid =
    exp !== undefined && sig !== undefined && isValidLink(ctx, { sha256, request, upload, exp, sig }, ctx.clock.now());
  const file = isValid ? await findNamed(ctx, sha256, { request, upload }) : null;
  if (!file) throw new AppError('NOT_FOUND', 'The link is not valid, or has ended. Ask its sender for a new one.');
  return file;
}

const findNamed = async (
  { db }: FileServices,
  sha256: Buffer,
  { request, upload }: FileLink,
): Promise<FilePlace | null> =>
  upload === undefined
    ? request === undefined
      ? null
      : findResultFile(db, request, sha256)
    : findFileByBlob(db, upload, request ?? null);

/** Part of a content: from a byte on, up to and without another. */
export interface ByteRange {
  readonly from: number;
  readonly before: number;
}

/**
 * Opens a content: its first piece is read and checked before this resolves, each further one as it is taken. Throws FILE_GONE when the
 * store lacks it, or has something else.
 */
export async function openContent(
  ctx: FileServices,
  file: FilePlace,
  { from, before }: ByteRange,
): Promise<AsyncIterable<Uint8Array<ArrayBuffer>>> {
  const { pieceBytes } = file;
  const first = Math.floor(from / pieceBytes);
  const last = Math.ceil(before / pieceBytes);
  const part = async (position: number) => {
    const piece = await readPiece(ctx, file, position);
    const startsAt = position * pieceBytes;
    return piece.subarray(Math.max(0, from - startsAt), before - startsAt);
  };
  const opening = before > from ? await part(first) : null;
  return (async function* () {
    if (opening) yield opening;
    for (let position = first + 1; position < last; position++) yield await part(position);
  })();
}

const HASH_BYTES = 32;

async function readPiece(ctx: FileServices, file: FilePlace, position: number): Promise<Buffer<ArrayBuffer>> {
  const { blobId, pieceBytes, pieceHashes, size } = file;
  const store = ctx.pieceStores.of(file.store);
  const expected = Math.min(pieceBytes, size - position * pieceBytes);
  const piece = await store?.get(blobId, position, expected).catch((error: unknown) => {
    throw away(error);
  });
  const hash = pieceHashes.subarray(position * HASH_BYTES, (position + 1) * HASH_BYTES);
  if (piece && createHash('sha256').update(piece).digest().equals(hash)) return piece as Buffer<ArrayBuffer>;
  const fault = store === null ? 'no settings' : piece ? 'another content' : 'no content';
  ctx.log.error({ upload: blobId, position, store: file.store, fault }, 'the content of a file is lost');
  throw new AppError('FILE_GONE', 'The content of this file is lost. Upload it again.');
}
