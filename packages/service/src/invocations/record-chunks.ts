import type { HasDb } from '../db/database.ts';
import type { HasClock } from '../lib/clock.ts';
import type { HasChangeHub } from './change-hub.ts';
import type { Invocation } from './invocation.ts';
import { appendChunks, type Chunk, readChunks } from './stream-store.ts';

/** What an agent may say on the way. */
export const MAX_CHUNKS = 10_000;
export const MAX_CHUNK_BYTES = 64 * 1024;

/** One thing that an agent said. */
export type Said = Pick<Chunk, 'type' | 'data'>;

export interface ChunkRecorder {
  /** Stores what the agent said next, in one go. Resolves false when the request is no longer ours. */
  add(said: readonly Said[]): Promise<boolean>;
}

/**
 * Stores the chunks of one attempt. An agent that is called again, because a process died, says again what it had said: that much
 * is passed over as long as it is the same, so that no reader hears anything twice.
 */
export async function createChunkRecorder(
  ctx: HasDb & HasClock & HasChangeHub,
  invocation: Invocation,
): Promise<ChunkRecorder> {
  const earlier = invocation.attempt === 1 ? [] : await readChunks(ctx.db, invocation.id, 0, MAX_CHUNKS);
  let position = earlier.length;
  let repeated = 0;
  const isRepeated = ({ type, data }: Said) => {
    const next = earlier[repeated];
    // As JSON, since that is what was stored: -0 came back as 0.
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
      const isStored = await appendChunks(ctx.db, invocation, chunks);
      ctx.changeHub.changed(invocation.id);
      return isStored;
    },
  };
}
