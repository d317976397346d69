import { createBatcher } from '../../lib/concurrency/batcher.ts';
import type { Store } from '../../store/database.ts';
import { isRolledBack } from '../../store/database-away.ts';
import type { Invocation } from '../invocation.ts';
import type { StoragePace } from '../storage.ts';
import { lastQuestionPosition } from '../turns/turn-store.ts';
import type { ChangeHub } from './change-hub.ts';
import { type Append, appendChunks, type Chunk, type EncodedChunk, measureChunks, readChunks } from './stream-store.ts';

/** Maximum number of an agent's chunks. */
export const MAX_CHUNKS = 10_000;
/** Maximum bytes of an agent's stream, framing included, and of a request's stored chunks. */
export const MAX_STREAM_BYTES = 16 * 1024 * 1024;
export const MAX_CHUNK_BYTES = 64 * 1024;
/** Chunks up to this size are handed to readers in this process; longer ones are read from the database at the reader's pace. */
const MAX_HANDED_BYTES = 16 * 1024;

/** One chunk of an agent. */
export type Said = Pick<Chunk, 'data'> & { readonly type: Exclude<Chunk['type'], 'invocation.input_required'> };

export interface ChunkRecorder {
  /** Stores the agent's next chunks in one batch. Resolves false when another attempt has the request. */
  add(said: readonly Said[]): Promise<boolean>;
  /** True when more is stored than one request may bring, over all sends. */
  isTooMuch(): boolean;
}

/** Stores the chunks of agents. */
export interface ChunkWriter {
  /** Resolves false when another attempt has the request. Does not wait for its turn once the signal aborts. */
  write(append: Append, signal: AbortSignal): Promise<boolean>;
}

/** Output of running requests: stored in batches, and announced to readers. */
export interface ChunkOutput {
  readonly chunkWriter: ChunkWriter;
  readonly changeHub: ChangeHub;
}

/** Bytes of storage for a chunk, without its text. */
const CHUNK_BYTES = 512;
const MAX_BATCH_BYTES = 500 * CHUNK_BYTES;
const weightOf = ({ chunks }: Append) =>
  chunks.reduce((sum, { json }) => sum + Math.max(Buffer.byteLength(json), CHUNK_BYTES), 0);

/**
 * Batches writes at the pace of their accounts: chunks that arrive during a transaction share the next one, up to a size, so that thousands
 * of streams need few connections.
 */
export function createChunkWriter(ctx: Pick<Store, 'db'> & { readonly storagePace: StoragePace }): ChunkWriter {
  const batcher = createBatcher<Append, boolean>({
    maxSize: MAX_BATCH_BYTES,
    weightOf,
    canSplit: isRolledBack,
    // Batches must keep two attempts at one request apart, because one of them has lost it.
    keyOf: ({ request }) => request.id,
    run: async (appends) => {
      const stored = await ctx.db.transaction((tx) => appendChunks(tx, appends));
      return appends.map(({ request }) => stored.has(request.id));
    },
  });
  return {
    async write(append, signal) {
      await ctx.storagePace.take(append.request.accountId, weightOf(append), signal);
      return batcher.add(append);
    },
  };
}

/**
 * Stores the chunks of one attempt, behind those of earlier turns. An agent that is called again, after a process died or its connection broke, repeats its chunks: equal
 * ones are skipped, so that no reader gets one twice. `isRepetition`: the request was sent before.
 */
export async function createChunkRecorder(
  ctx: Store & { readonly changeHub: ChangeHub; readonly chunkWriter: ChunkWriter },
  { invocation, signal }: { readonly invocation: Invocation; readonly signal: AbortSignal },
  isRepetition = invocation.attempt > 1,
): Promise<ChunkRecorder> {
  const stored = isRepetition ? await measureChunks(ctx.db, invocation.id) : { count: 0, bytes: 0 };
  const before = stored.count > 0 && invocation.turn > 1 ? await lastQuestionPosition(ctx.db, invocation.id) : 0;
  const earlier = stored.count > before ? await readChunks(ctx.db, invocation.id, before, MAX_CHUNKS) : [];
  let position = stored.count;
  let { bytes } = stored;
  let repeated = 0;
  const isRepeated = ({ type, data }: Said) => {
    const next = earlier[repeated];
    // Compared as stored JSON: -0 comes back as 0.
    const isSame = next?.type === type && JSON.stringify(next.data) === JSON.stringify(data);
    if (isSame) repeated += 1;
    else earlier.length = 0;
    return isSame;
  };
  return {
    async add(said) {
      const fresh = said.filter((each) => !isRepeated(each));
      if (fresh.length === 0) return true;
      const createdAt = ctx.clock.now();
      const chunks = fresh.map((each) => {
        position += 1;
        return { ...each, position, createdAt };
      });
      const added = await storeChunks(ctx, invocation, chunks, signal);
      bytes += added ?? 0;
      return added !== null;
    },
    isTooMuch: () => position > MAX_CHUNKS || bytes > MAX_STREAM_BYTES,
  };
}

/** Maximum size and number of events that count as mere progress; larger ones can carry the work itself. */
const MAX_PROGRESS_BYTES = 200;
const MAX_PROGRESS_EVENTS = 20;

const isOutput = ({ type, position, json }: EncodedChunk): boolean =>
  type === 'invocation.chunk' ||
  Buffer.byteLength(json) > MAX_PROGRESS_BYTES ||
  (position > MAX_PROGRESS_EVENTS && json.includes('"message"'));

/** Stores chunks and hands them to readers. Resolves their bytes; null when another attempt has the request. */
export async function storeChunks(
  ctx: { readonly changeHub: ChangeHub; readonly chunkWriter: ChunkWriter },
  invocation: Invocation,
  chunks: readonly Chunk[],
  signal: AbortSignal,
): Promise<number | null> {
  const encoded = chunks.map((chunk): EncodedChunk => ({ ...chunk, json: JSON.stringify(chunk.data) }));
  const append = { request: invocation, chunks: encoded, isOutput: encoded.some(isOutput) };
  const isStored = await ctx.chunkWriter.write(append, signal);
  const bytes = encoded.reduce((sum, { json }) => sum + Buffer.byteLength(json), 0);
  if (!invocation.isHeldBack)
    ctx.changeHub.changed(invocation.id, isStored && bytes <= MAX_HANDED_BYTES ? chunks : undefined);
  return isStored ? bytes : null;
}
