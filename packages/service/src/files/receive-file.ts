import { createHash, timingSafeEqual } from 'node:crypto';
import type { StoredFile } from '@agent-network/contracts/files/files';
import type { KnownCaller } from '../accounts/caller.ts';
import { AppError } from '../lib/app-error.ts';
import { createBytePieces } from '../lib/byte-pieces.ts';
import { newId } from '../lib/id.ts';
import { failpoint } from '../lib/process/failpoint.ts';
import { DatabaseAwayError } from '../store/database-away.ts';
import type { PieceStore } from './file.ts';
import type { FileServices } from './file-services.ts';
import { findUploadState, insertBlob, insertFile, keepBlob, leaveBlob, lockUploads, renewFile } from './file-store.ts';
import { fileView } from './file-view.ts';

/** Time of a whole upload, and of silence in it. */
export const WHOLE_MS = 10 * 60_000;
const IDLE_MS = 30_000;
/** An upload is given up this long after its start: later than it can end. */
const DUE_MS = WHOLE_MS + 5 * 60_000;
/** Running uploads of an account, at all processes. */
const MAX_OF_ACCOUNT = 2;
/** Counted for each file besides its content, so that many small ones are bounded, too. */
export const COUNTED_MORE = 1024;

/** Facts about an upload that are known before its content is read. */
export interface Announced {
  /** null: the caller did not hash. */
  readonly sha256: Buffer | null;
  readonly size: number;
  readonly mediaType: string;
  readonly name: string | null;
  readonly lifeS: number;
  /** Network address of the caller. */
  readonly network: string;
}

export interface Content {
  readonly pieces: () => AsyncIterable<Uint8Array>;
  /** Called once all of it is there; throws if the caller lost its rights meanwhile. */
  arrived(): Promise<void>;
}

/** The owner of files: an account, or an agent that calls with its identityToken. */
export const ownerOf = (caller: KnownCaller): string => (caller.kind === 'agent' ? caller.agentId : caller.accountId);

/**
 * Stores a content as a file of the caller. Everything that can be refused is refused before the content is read; then it goes to the store
 * piece by piece. Throws DIGEST_MISMATCH, or another error, with nothing kept: what was stored by then is removed, also when the process
 * dies. The whole content is read and stored even where it is there already, so that neither time nor status tells more.
 */
export async function receiveFile(
  ctx: FileServices,
  caller: KnownCaller,
  announced: Announced,
  content: Content,
): Promise<{ readonly file: StoredFile; readonly isNew: boolean }> {
  if (announced.size > ctx.maxFileBytes)
    throw new AppError('PAYLOAD_TOO_LARGE', `The file is larger than ${ctx.maxFileBytes} bytes. Nothing was stored.`);
  const leave = ctx.uploadRoom.enter(announced.network);
  try {
    const upload = await begin(ctx, caller, announced);
    try {
      const { sha256, pieceHashes } = await storePieces(
        ctx,
        { ...upload, accountId: caller.accountId },
        content.pieces(),
        {
          least: announced.size,
          most: announced.size,
        },
      );
      if (announced.sha256 && !timingSafeEqual(announced.sha256, sha256)) throw mismatch(sha256);
      await content.arrived();
      return await keep(ctx, caller, upload, { ...announced, sha256, pieceHashes });
    } catch (error) {
      await giveUp(ctx, upload.id);
      throw error;
    }
  } finally {
    leave();
  }
}

const mismatch = (sha256: Buffer) =>
  new AppError('DIGEST_MISMATCH', `The content has the SHA-256 ${sha256.toString('hex')}. Nothing was stored.`);

export interface Upload {
  readonly id: string;
  readonly store: PieceStore;
}

/** Commits the intent: from here on the bytes count, and whatever is stored of them is removed if the upload does not end. */
async function begin(ctx: FileServices, caller: KnownCaller, { sha256, size }: Announced): Promise<Upload> {
  const { accountId } = caller;
  const now = ctx.clock.now();
  const id = newId('upl');
  const store = ctx.pieceStores.current;
  const limit = ctx.storageLimits[caller.node === 'online' ? 'node' : caller.plan];
  failpoint('before-file-begin-commit');
  await ctx.db.transaction(async (tx) => {
    await lockUploads(tx, accountId);
    const state = await findUploadState(tx, { accountId, ownerId: ownerOf(caller), sha256 });
    if (state.arriving >= MAX_OF_ACCOUNT) throw tooMany();
    const countedBytes = size + COUNTED_MORE;
    // What is there already is counted twice until this upload ends.
    if (state.stored + countedBytes > limit && !state.isThere)
      throw new AppError(
        'STORAGE_LIMIT_EXCEEDED',
        'The file does not fit into the storage of the account. Nothing was stored.',
        { details: { storedBytes: state.stored, limitBytes: limit } },
      );
    const dueAt = new Date(now.getTime() + DUE_MS);
    await insertBlob(tx, {
      ...{ id, accountId, size, countedBytes, dueAt },
      ...{ ownerId: ownerOf(caller), store: store.name, pieceBytes: store.pieceBytes },
    });
  });
  failpoint('after-file-begin-commit');
  return { id, store };
}

const tooMany = () =>
  new AppError(
    'RATE_LIMITED',
    `The account has ${MAX_OF_ACCOUNT} uploads running. Repeat this one after they have ended.`,
    {
      details: { limit: MAX_OF_ACCOUNT, type: 'uploads', retryAfterS: 5 },
    },
  );

/** Bytes that a content has at least and at most. */
interface Bounds {
  readonly least: number;
  readonly most: number;
}

interface StoredPieces {
  readonly sha256: Buffer;
  readonly size: number;
  readonly pieceHashes: Buffer;
}

/** Puts a content into its store, piece by piece, at the pace of its account. Throws where it is longer or shorter than it may be. */
export async function storePieces(
  ctx: Pick<FileServices, 'uploadRoom'>,
  { id, store, accountId }: Upload & { readonly accountId: string },
  content: AsyncIterable<Uint8Array>,
  { least, most }: Bounds,
): Promise<StoredPieces> {
  const all = createHash('sha256');
  const hashes: Buffer[] = [];
  const put = async (bytes: Buffer) => {
    hashes.push(createHash('sha256').update(bytes).digest());
    failpoint('before-file-piece');
    await store.put(id, hashes.length - 1, bytes).catch((error: unknown) => {
      throw away(error);
    });
    failpoint('after-file-piece');
  };
  const held = createBytePieces();
  let received = 0;
  for await (const bytes of inTime(content)) {
    received += bytes.byteLength;
    if (received > most) throw notWhole();
    await paced(ctx, accountId, bytes.byteLength);
    all.update(bytes);
    for (let at = 0; at < bytes.byteLength; ) {
      const part = bytes.subarray(at, at + store.pieceBytes - held.byteLength);
      held.add(part);
      at += part.byteLength;
      if (held.byteLength === store.pieceBytes) await put(held.take());
    }
  }
  if (received < least) throw notWhole();
  if (held.byteLength > 0) await put(held.take());
  return { sha256: all.digest(), size: received, pieceHashes: Buffer.concat(hashes) };
}

/** An account that sends faster than it may waits; its connection does, too. */
const paced = ({ uploadRoom }: Pick<FileServices, 'uploadRoom'>, accountId: string, bytes: number): Promise<void> =>
  uploadRoom.pace.take(accountId, bytes, AbortSignal.timeout(WHOLE_MS));

const notWhole = () =>
  new AppError('VALIDATION_ERROR', 'The upload ended before it was whole. Nothing was stored.', {
    details: { fields: [{ path: 'body', message: 'is not as long as Content-Length says' }] },
  });

const late = () =>
  new AppError('UNAVAILABLE', 'The upload did not arrive in time. Nothing was stored; repeat it.', {
    details: { outcome: 'nothing' },
  });

/** The store cannot be reached, or is full. */
export const away = (cause: unknown): unknown =>
  cause instanceof AppError || cause instanceof DatabaseAwayError
    ? cause
    : new AppError(
        'UNAVAILABLE',
        'The store of files does not answer. Nothing was stored; repeat the request later.',
        { details: { outcome: 'nothing' } },
        { cause },
      );

/** The pieces as they arrive; throws when none comes for too long, or the whole takes too long. */
async function* inTime(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const end = performance.now() + WHOLE_MS;
  const iterator = pieces[Symbol.asyncIterator]();
  try {
    for (;;) {
      const leftMs = Math.min(IDLE_MS, end - performance.now());
      const { promise: timeout, reject } = Promise.withResolvers<never>();
      const timer = setTimeout(() => reject(late()), Math.max(0, leftMs));
      const next = await Promise.race([iterator.next(), timeout]).finally(() => clearTimeout(timer));
      if (next.done) return;
      yield next.value;
    }
  } finally {
    // Not awaited: what does not send may not end either.
    void Promise.resolve(iterator.return?.()).catch(() => undefined);
  }
}

interface Received extends Omit<Announced, 'sha256'> {
  readonly sha256: Buffer;
  readonly pieceHashes: Buffer;
}

async function keep(ctx: FileServices, caller: KnownCaller, { id }: Upload, received: Received) {
  const createdAt = ctx.clock.now();
  const expiresAt = new Date(createdAt.getTime() + received.lifeS * 1000);
  const { sha256, size, mediaType, name, pieceHashes } = received;
  const file = { ownerId: ownerOf(caller), sha256, blobId: id, mediaType, name, createdAt, expiresAt };
  failpoint('before-file-keep-commit');
  const known = await ctx.db.transaction(async (tx) => {
    if (!(await keepBlob(tx, id, pieceHashes))) throw late();
    if (await insertFile(tx, file)) return null;
    await leaveBlob(tx, id, createdAt);
    return renewFile(tx, file);
  });
  failpoint('after-file-keep-commit');
  return { file: fileView(known ?? { ...file, size }), isNew: known === null };
}

/** The next removal would come by as well: this only frees the bytes sooner. */
export async function giveUp(ctx: Pick<FileServices, 'db' | 'clock' | 'log'>, id: string): Promise<void> {
  try {
    await leaveBlob(ctx.db, id, ctx.clock.now());
  } catch (err) {
    ctx.log.warn({ err, upload: id }, 'an upload that failed is removed later');
  }
}
