import type { HasDb } from '../../db/database.ts';
import { isRolledBack } from '../../db/database-away.ts';
import { createBatcher } from '../../lib/batcher.ts';
import type { HasClock } from '../../lib/clock.ts';
import type { Invocation } from '../invocation.ts';
import type { HasChangeHub } from './change-hub.ts';
import { type Append, appendChunks, type Chunk, readChunks } from './stream-store.ts';

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
  /** Resolves false when another attempt has the request. */
  write(append: Append): Promise<boolean>;
}

export interface HasChunkWriter {
  readonly chunkWriter: ChunkWriter;
}

/** Output of running requests: stored in batches, and announced to readers. */
export interface ChunkOutput extends HasChunkWriter, HasChangeHub {}

const MAX_BATCH = 500;

/** Batches writes: chunks that arrive during a transaction share the next one, so that thousands of streams need few connections. */
export function createChunkWriter(ctx: HasDb): ChunkWriter {
  const batcher = createBatcher<Append, boolean>({
    maxSize: MAX_BATCH,
    canSplit: isRolledBack,
    // Batches must keep two attempts at one request apart, because one of them has lost it.
    keyOf: ({ request }) => request.id,
    run: async (appends) => {
      const stored = await ctx.db.transaction((tx) => appendChunks(tx, appends));
      return appends.map(({ request }) => stored.has(request.id));
    },
  });
  return { write: (append) => batcher.add(append) };
}

/**
 * Stores the chunks of one attempt. An agent that is called again after a process died repeats its chunks: equal ones are skipped, so that
 * no reader gets one twice.
 */
export async function createChunkRecorder(
  ctx: HasDb & HasClock & HasChangeHub & HasChunkWriter,
  invocation: Invocation,
): Promise<ChunkRecorder> {
  const earlier = invocation.attempt === 1 ? [] : await readChunks(ctx.db, invocation.id, 0, MAX_CHUNKS);
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
      return storeChunks(ctx, invocation, chunks);
    },
  };
}

/** Stores chunks and hands them to readers. Resolves false when another attempt has the request. */
export async function storeChunks(
  ctx: HasChangeHub & HasChunkWriter,
  invocation: Invocation,
  chunks: readonly Chunk[],
): Promise<boolean> {
  const isStored = await ctx.chunkWriter.write({ request: invocation, chunks });
  ctx.changeHub.changed(invocation.id, isStored && isShort(chunks) ? chunks : undefined);
  return isStored;
}

const isShort = (chunks: readonly Chunk[]) =>
  chunks.reduce((chars, { data }) => chars + JSON.stringify(data).length, 0) <= MAX_HANDED_CHARS;
