import { createBoundedCache } from '../../lib/bounded-cache.ts';

/** The first request of a line since when it waits, as it was seen at a time. */
interface Seen {
  readonly atMs: number;
  readonly firstMs: number;
}

export interface LineSpeeds {
  /** The wait of a newcomer to a line, by the wait of its first request now and by how fast the line moved of late. */
  expectedMs(line: string, firstMs: number, nowMs: number): number;
}

const MAX_LINES = 10_000;
const FORGET_MS = 60_000;
/** A line is compared with itself as of one to two of these ago. */
const WINDOW_MS = 1000;
/** Less says nothing: requests are taken in batches. */
const MIN_MS = 250;

/**
 * A line that is served as fast as it is joined lets a newcomer wait for as long as its first one has waited. In one that grows, its first
 * one is half a second older after a second, say: the newcomer waits for twice as long. That the first one has not changed says nothing of
 * the others: its agent may be slow. Read from what is queued, so it holds for all processes that serve the line.
 */
export function createLineSpeeds(): LineSpeeds {
  const known = createBoundedCache<{ older: Seen; newer: Seen }>(MAX_LINES, FORGET_MS);
  return {
    expectedMs(line, firstMs, nowMs) {
      const waitedMs = Math.max(0, nowMs - firstMs);
      const now = { atMs: nowMs, firstMs };
      const seen = known.get(line) ?? { older: now, newer: now };
      const older = nowMs - seen.newer.atMs >= WINDOW_MS ? seen.newer : seen.older;
      if (older !== seen.older || older === now) known.set(line, { older, newer: now });
      const [overMs, movedMs] = [nowMs - older.atMs, firstMs - older.firstMs];
      if (overMs < MIN_MS || movedMs <= 0) return waitedMs;
      return waitedMs * Math.max(1, overMs / movedMs);
    },
  };
}
