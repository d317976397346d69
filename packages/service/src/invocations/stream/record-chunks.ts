import type { HasDb } from '../../db/database.ts';
import { isRolledBack } from '../../db/database-away.ts';
import type { HasClock } from '../../lib/clock.ts';
import { createBatcher } from '../../lib/concurrency/batcher.ts';
import type { Invocation } from '../invocation.ts';
import type { HasChangeHub } from './change-hub.ts';
import type { HasStoragePace } from './storage-pace.ts';
import { type Append, appendChunks, type Chunk, type EncodedChunk, readChunks } from './stream-store.ts';

/** Maximum number of an agent's chunks. */
export const MAX_CHUNKS = 10_000;
export const MAX_CHUNK_BYTES = 64 * 1024;
/** Chunks up to this size are handed to readers in this process; longer ones are read from the database at the reader's pace. */
const MAX_HANDED_CHARS = 16 * 1024;

/** One chunk of an agent. */
export type Said = Pick<Chunk, 'type' | 'data'>;

export interface ChunkRecorder {
  /** Stores the agent's next chunks in one batch. Resolves false when another attempt has the request. */
  add(said: readonly Said[]): Promise<boolean>;
}

/** Stores the chunks of agents. */
export interface ChunkWriter {
  /** Resolves false when another attempt has the request. Does not wait for its turn once the signal aborts. */
  write(append: Append, signal: AbortSignal): Promise<boolean>;
}

export interface HasChunkWriter {
  readonly chunkWriter: ChunkWriter;
}

/** Output of running requests: stored in batches, and announced to readers. */
export interface ChunkOutput extends HasChunkWriter, HasChangeHub {}

/** Storage of a chunk beside its text, in bytes. */
const CHUNK_BYTES = 512;
const MAX_BATCH_BYTES = 500 * CHUNK_BYTES;
const weightOf = ({ chunks }: Append) =>
  chunks.reduce((sum, { json }) => sum + Math.max(Buffer.byteLength(json), CHUNK_BYTES), 0);

/**
 * Batches writes at the pace of their accounts: chunks that arrive during a transaction share the next one, up to a size, so that thousands
 * of streams need few connections.
 */
export function createChunkWriter(ctx: HasDb & HasStoragePace): ChunkWriter {
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
 * Stores the chunks of one attempt. An agent that is called again, after a process died or its connection broke, repeats its chunks: equal
 * ones are skipped, so that no reader gets one twice. `isRepetition`: the request was sent before.
 */
export async function createChunkRecorder(
  ctx: HasDb & HasClock & HasChangeHub & HasChunkWriter,
  { invocation, signal }: { readonly invocation: Invocation; readonly signal: AbortSignal },
  isRepetition = invocation.attempt > 1,
): Promise<ChunkRecorder> {
  const earlier = isRepetition ? await readChunks(ctx.db, invocation.id, 0, MAX_CHUNKS) : [];
  let position = earlier.length;
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
      return storeChunks(ctx, invocation, chunks, signal);
    },
  };
}

/** Stores chunks and hands them to readers. Resolves false when another attempt has the request. */
export async function storeChunks(
  ctx: HasChangeHub & HasChunkWriter,
  invocation: Invocation,
  chunks: readonly Chunk[],
  signal: AbortSignal,
): Promise<boolean> {
  const encoded = chunks.map((chunk): EncodedChunk => ({ ...chunk, json: JSON.stringify(chunk.data) }));
  const isStored = await ctx.chunkWriter.write({ request: invocation, chunks: encoded }, signal);
  const chars = encoded.reduce((sum, { json }) => sum + json.length, 0);
  ctx.changeHub.changed(invocation.id, isStored && chars <= MAX_HANDED_CHARS ? chunks : undefined);
  return isStored;
}
