/**
 * A line in which lanes take turns: each turn serves one entry of one lane, the best of its ranks first, 0 before 1. Entries of the last
 * rank are served when no lane has any other. So a lane with many entries delays its own ones only, and no lane gains by its ranks.
 * An entry may take several turns: its lane waits for so many before the next is its own.
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
  /** Turns that the entry takes; 1 unless said otherwise. */
  readonly turns?: number;
}

interface Lane<T> {
  /** By rank, in order of arrival. */
  readonly lines: T[][];
  readonly sinceMs: number;
  size: number;
  /** Turns that it lets pass, because its entries take several. */
  owed: number;
}

/** Lanes in the order of their turns. */
interface Ring<T> {
  readonly lanes: Map<string, Lane<T>>;
  size: number;
}

export function createFairLine<T>(ranks: number): FairLine<T> {
  /** The lanes of all ranks but the last, and those of the last. */
  const first: Ring<T> = { lanes: new Map(), size: 0 };
  const last: Ring<T> = { lanes: new Map(), size: 0 };
  const isLast = (rank: number) => rank === ranks - 1;
  const ringOf = (rank: number) => (isLast(rank) ? last : first);

  return {
    get size() {
      return first.size + last.size;
    },
    add(entry, { lane: name, rank, turns = 1 }, nowMs) {
      const ring = ringOf(rank);
      const lane = ring.lanes.get(name) ?? {
        lines: Array.from({ length: ranks }, () => []),
        sinceMs: nowMs,
        size: 0,
        owed: 0,
      };
      ring.lanes.set(name, lane);
      lane.lines[rank]?.push(entry);
      lane.size += 1;
      lane.owed += turns - 1;
      ring.size += 1;
    },
    take: () => takeFrom(first) ?? takeFrom(last),
    ahead({ lane, rank }) {
      const ring = ringOf(rank);
      const own = aheadIn(ring.lanes.get(lane), rank);
      // A lane with fewer entries takes fewer turns: no more than its entries.
      const ofTurns = Math.min((own + 1) * ring.lanes.size, ring.size);
      return isLast(rank) ? ofTurns + first.size : ofTurns;
    },
    standingMs({ lane, rank }, nowMs) {
      const known = ringOf(rank).lanes.get(lane);
      return known ? nowMs - known.sinceMs : 0;
    },
    makeRoom({ lane: own, rank }) {
      // Entries of the last rank leave first.
      const ring = last.size > 0 ? last : first;
      const longest = longestOf(ring);
      if (!longest) return null;
      const [name, lane] = longest;
      const worst = lane.lines.findLastIndex((line) => line.length > 0);
      const ownSize = ringOf(rank).lanes.get(own)?.size ?? 0;
      const isWorseOff = (isLast(worst) && !isLast(rank)) || (name === own ? worst > rank : lane.size > ownSize + 1);
      if (!isWorseOff) return null;
      const entry = lane.lines[worst]?.pop() ?? null;
      countRemoved(ring, name, lane, 1);
      return entry;
    },
    expire: (isOver) => [...expireIn(first, isOver), ...expireIn(last, isOver)],
  };
}

/** Follows entries that left a lane; an empty lane leaves the ring. */
function countRemoved<T>(ring: Ring<T>, name: string, lane: Lane<T>, count: number): void {
  lane.size -= count;
  ring.size -= count;
  if (lane.size === 0) ring.lanes.delete(name);
}

/** Serves the lane whose turn it is, which then goes to the end of the ring. */
function takeFrom<T>(ring: Ring<T>): T | null {
  for (const [name, lane] of ring.lanes) {
    if (lane.owed > 0 && ring.lanes.size > 1) {
      lane.owed -= 1;
      ring.lanes.delete(name);
      ring.lanes.set(name, lane);
      continue;
    }
    const entry = lane.lines.find((line) => line.length > 0)?.shift();
    countRemoved(ring, name, lane, 1);
    if (ring.lanes.delete(name)) ring.lanes.set(name, lane);
    return entry ?? null;
  }
  return null;
}

/** Number of a lane's entries that are served before a new one of this rank. */
const aheadIn = <T>(lane: Lane<T> | undefined, rank: number): number =>
  (lane?.lines ?? []).slice(0, rank + 1).reduce((sum, line) => sum + line.length, 0);

function longestOf<T>({ lanes }: Ring<T>): [name: string, lane: Lane<T>] | null {
  let longest: [string, Lane<T>] | null = null;
  for (const each of lanes) if (!longest || each[1].size > longest[1].size) longest = each;
  return longest;
}

function expireIn<T>(ring: Ring<T>, isOver: (entry: T) => boolean): T[] {
  const over: T[] = [];
  for (const [name, lane] of ring.lanes)
    for (const line of lane.lines) {
      const stays = line.findIndex((entry) => !isOver(entry));
      const gone = line.splice(0, stays === -1 ? line.length : stays);
      over.push(...gone);
      countRemoved(ring, name, lane, gone.length);
    }
  return over;
}
