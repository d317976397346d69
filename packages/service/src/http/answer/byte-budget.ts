import { createBoundedCache } from '../../lib/bounded-cache.ts';

const MAX_READERS = 50_000;
/** Part of a minute's bytes that may be used at once. */
const BURST = 1 / 8;

interface Account {
  readonly atMs: number;
  readonly bytes: number;
}

/** Bytes a minute for each reader, in memory: they come back evenly. A use may exceed what is left, by a minute's bytes at most. */
export interface ByteBudget {
  /** Seconds until the reader has bytes again; null when it has some. */
  emptyForS(reader: string, nowMs: number): number | null;
  use(reader: string, bytes: number, nowMs: number): void;
}

export function createByteBudget(perMinute: number): ByteBudget {
  const accounts = createBoundedCache<Account>(MAX_READERS);
  const perMs = perMinute / 60_000;
  const most = perMinute * BURST;
  const left = (reader: string, nowMs: number) => {
    const known = accounts.get(reader);
    return known ? Math.min(most, known.bytes + (nowMs - known.atMs) * perMs) : most;
  };
  return {
    emptyForS(reader, nowMs) {
      const bytes = left(reader, nowMs);
      return bytes > 0 ? null : Math.max(1, Math.ceil((1 - bytes) / perMs / 1000));
    },
    use: (reader, bytes, nowMs) =>
      void accounts.set(reader, { atMs: nowMs, bytes: Math.max(-perMinute, left(reader, nowMs) - bytes) }),
  };
}
