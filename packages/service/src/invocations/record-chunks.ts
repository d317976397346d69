import type { HasDb } from '../db/database.ts';
import type { HasClock } from '../lib/clock.ts';
import type { HasChangeHub } from './change-hub.ts';
import type { Invocation } from './invocation.ts';
import { appendChunks, type Chunk, readChunks } from './stream-store.ts';

/** What an agent may say on the way. */
export const MAX_CHUNKS = 10_000;
export const MAX_CHUNK_BYTES = 64 * 1024;

export interface ChunkRecorder {
  /** Stores what the agent said next. Resolves false when the request is no longer ours. */
  add(type: Chunk['type'], data: unknown): Promise<boolean>;
}

/**
 * Stores the chunks of one attempt. An agent that is called again, because a process died, says again what it had said: that much
 * is passed over as long as it is the same, so that no reader hears anything twice.
 */
export async function createChunkRecorder(
  ctx: HasDb & HasClock & HasChangeHub,
  invocation: Invocation,
): Promise<ChunkRecorder> {
  const said = invocation.attempt === 1 ? [] : await readChunks(ctx.db, invocation.id, 0, MAX_CHUNKS);
  let position = said.length;
  let repeated = 0;
  return {
    async add(type, data) {
      const earlier = said[repeated];
      // As JSON, since that is what was stored: -0 came back as 0.
      if (earlier?.type === type && JSON.stringify(earlier.data) === JSON.stringify(data)) {
        repeated += 1;
        return true;
      }
      said.length = 0;
      position += 1;
      const isStored = await appendChunks(ctx.db, invocation, [{ position, type, data, createdAt: ctx.clock.now() }]);
      ctx.changeHub.changed(invocation.id);
      return isStored;
    },
  };
}
