/**
 * A line in which lanes take turns: each turn serves one entry of one lane, the best of its ranks first, 0 before 1. Entries of the last
 * rank are served when no lane has any other. So a lane with many entries delays its own ones only, and no lane gains by its ranks.
 */
export interface FairLine<T> {
  readonly size: number;
  add(entry: T, place: LinePlace, nowMs: number): void;
  /** The next entry, which leaves the line; null: the line is empty. */
  take(): T | null;
  /** About how many entries are served before one that came now. */
  ahead(place: LinePlace): number;
  /** Time since the lane was last without entries of such ranks. */
  standingMs(place: LinePlace, nowMs: number): number;
  /** Takes out the newest entry of the worst rank in the longest lane, if that is worse off than a newcomer at this place; else null. */
  makeRoom(place: LinePlace): T | null;
  /** Takes out the entries for which `isOver` is true; in each lane and rank the oldest are asked, up to the first that stays. */
  expire(isOver: (entry: T) => boolean): T[];
}

export interface LinePlace {
  readonly lane: string;
  readonly rank: number;
}

interface Lane<T> {
  /** By rank, in order of arrival. */
  readonly lines: T[][];
  readonly sinceMs: number;
  size: number;
}

type Ring<T> = Map<string, Lane<T>>;

export function createFairLine<T>(ranks: number): FairLine<T> {
  /** Lanes in the order of their turns: those of all ranks but the last, and those of the last. */
  const first: Ring<T> = new Map();
  const last: Ring<T> = new Map();
  let size = 0;
  let sizeOfFirst = 0;
  const isLast = (rank: number) => rank === ranks - 1;
  const ringOf = (rank: number) => (isLast(rank) ? last : first);

  function removed(ring: Ring<T>, name: string, lane: Lane<T>, count: number): void {
    lane.size -= count;
    size -= count;
    if (ring === first) sizeOfFirst -= count;
    if (lane.size === 0) ring.delete(name);
  }

  function takeFrom(ring: Ring<T>): T | null {
    for (const [name, lane] of ring) {
      const entry = lane.lines.find((line) => line.length > 0)?.shift();
      removed(ring, name, lane, 1);
      // To the end of the ring.
      if (ring.delete(name)) ring.set(name, lane);
      return entry ?? null;
    }
    return null;
  }

  const aheadIn = (lane: Lane<T> | undefined, rank: number) =>
    (lane?.lines ?? []).slice(0, rank + 1).reduce((sum, line) => sum + line.length, 0);

  return {
    get size() {
      return size;
    },
    add(entry, { lane: name, rank }, nowMs) {
      const ring = ringOf(rank);
      const lane = ring.get(name) ?? { lines: Array.from({ length: ranks }, () => []), sinceMs: nowMs, size: 0 };
      ring.set(name, lane);
      lane.lines[rank]?.push(entry);
      lane.size += 1;
      size += 1;
      if (ring === first) sizeOfFirst += 1;
    },
    take: () => takeFrom(first) ?? takeFrom(last),
    ahead({ lane, rank }) {
      const ring = ringOf(rank);
      const own = aheadIn(ring.get(lane), rank);
      // Whoever has fewer entries takes fewer turns: no more than there are.
      const inRing = isLast(rank) ? size - sizeOfFirst : sizeOfFirst;
      const ofTurns = Math.min((own + 1) * ring.size, inRing);
      return isLast(rank) ? ofTurns + sizeOfFirst : ofTurns;
    },
    standingMs({ lane, rank }, nowMs) {
      const known = ringOf(rank).get(lane);
      return known ? nowMs - known.sinceMs : 0;
    },
    makeRoom({ lane: own, rank }) {
      // Whatever is of the last rank leaves first.
      const ring = last.size > 0 ? last : first;
      let longest: [string, Lane<T>] | null = null;
      for (const each of ring) if (!longest || each[1].size > longest[1].size) longest = each;
      if (!longest) return null;
      const [name, lane] = longest;
      const worst = lane.lines.findLastIndex((line) => line.length > 0);
      const ownSize = ringOf(rank).get(own)?.size ?? 0;
      const isWorseOff = (isLast(worst) && !isLast(rank)) || (name === own ? worst > rank : lane.size > ownSize + 1);
      if (!isWorseOff) return null;
      const entry = lane.lines[worst]?.pop() ?? null;
      removed(ring, name, lane, 1);
      return entry;
    },
    expire(isOver) {
      const over: T[] = [];
      for (const ring of [first, last])
        for (const [name, lane] of ring)
          for (const line of lane.lines) {
            const stays = line.findIndex((entry) => !isOver(entry));
            const gone = line.splice(0, stays === -1 ? line.length : stays);
            over.push(...gone);
            removed(ring, name, lane, gone.length);
          }
      return over;
    },
  };
}
