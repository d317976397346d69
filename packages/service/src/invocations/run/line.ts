import { createBoundedCache } from '../../lib/bounded-cache.ts';
import type { Invocation } from '../invocation.ts';
import type { HasPlaceLimits } from '../places/places.ts';
import { type LineOf, readLine } from './queue-store.ts';
import type { RunContext } from './run-invocation.ts';

/** Requests of a lane that are about to be queued. */
export interface LineEntry extends LineOf, Pick<Invocation, 'deadline'> {
  readonly count: number;
}

/** Call `leave` once the requests are stored or abandoned. */
export type Joined =
  | { readonly kind: 'in'; readonly leave: () => void }
  | { readonly kind: 'full' }
  | { readonly kind: 'too_slow'; readonly expectedMs: number };

/** The lines of lanes: who may be queued. */
export interface Lines {
  /**
   * Reserves queue entries. `full`: the lane would exceed its limit, with entries of other processes counted, but not their reservations.
   * `too_slow`: in the line of this priority for these agents, the new ones have to expect a wait that is longer than they have until their
   * deadline.
   */
  join(entry: LineEntry): Promise<Joined>;
}

/** An expected wait is a guess, and a call takes time after it. */
const SAFETY = 1.25;

export function createLines(ctx: Pick<RunContext, 'db' | 'clock'> & HasPlaceLimits): Lines {
  const joining = new Map<string, number>();
  const speeds = createLineSpeeds();
  return {
    async join(entry) {
      const { lane, count } = entry;
      const joined = (joining.get(lane) ?? 0) + count;
      joining.set(lane, joined);
      const leave = () => {
        const left = (joining.get(lane) ?? 0) - count;
        if (left > 0) joining.set(lane, left);
        else joining.delete(lane);
      };
      let answer: Joined = { kind: 'full' };
      try {
        answer = await judge(ctx, entry, { speeds, joined, leave });
      } finally {
        if (answer.kind !== 'in') leave();
      }
      return answer;
    },
  };
}

/** A reservation whose request is stored in the meantime is briefly counted twice: that refuses too many, never too few. */
async function judge(
  ctx: Pick<RunContext, 'db' | 'clock'> & HasPlaceLimits,
  entry: LineEntry,
  { speeds, joined, leave }: { speeds: LineSpeeds; joined: number; leave: () => void },
): Promise<Joined> {
  const { mostWaiting } = ctx.placeLimits;
  if (joined > mostWaiting) return { kind: 'full' };
  const { count, firstSince } = await readLine(ctx.db, entry, mostWaiting);
  if (joined + count > mostWaiting) return { kind: 'full' };
  const nowMs = ctx.clock.now().getTime();
  const line = `${entry.lane} ${entry.priority} ${entry.agentIds.join()}`;
  const expectedMs = firstSince ? speeds.expectedMs(line, firstSince.getTime(), nowMs) : 0;
  const leftMs = entry.deadline.getTime() - nowMs;
  return expectedMs * SAFETY > leftMs ? { kind: 'too_slow', expectedMs } : { kind: 'in', leave };
}

/** The first request of a line since when it waits, as it was seen at a time. */
interface Seen {
  readonly atMs: number;
  readonly firstMs: number;
}

interface LineSpeeds {
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
