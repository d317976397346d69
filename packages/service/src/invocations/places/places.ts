import type { Invocation } from '../invocation.ts';

/** A request as far as it takes a place. */
export type Call = Pick<Invocation, 'accountId' | 'callerAgentId' | 'agentId'>;

/** Whom a call shares its places with, as the column `lane` has it: its account, or all agents of the account. */
export const laneOf = ({ accountId, callerAgentId }: Pick<Call, 'accountId' | 'callerAgentId'>): string =>
  callerAgentId === null ? accountId : `${accountId}:agents`;

export interface PlaceLimits {
  /** Calls at once that nobody waits for; and as many again that are awaited. */
  readonly most: number;
  /** Of them for one lane. */
  readonly mostOfLane: number;
  /** Of them of one agent. */
  readonly mostOfAgent: number;
  /** Requests of one lane that may wait for a place. */
  readonly mostWaiting: number;
}

export interface HasPlaceLimits {
  readonly placeLimits: PlaceLimits;
}

/** How many places the lanes and agents have that have any. */
export interface PlaceLoad {
  readonly lanes: ReadonlyMap<string, number>;
  readonly agents: ReadonlyMap<string, number>;
}

/** In front are calls whose callers wait for the result; the others neither take their places nor wait behind them. */
export type Side = 'front' | 'back';

export interface Place {
  /** Gives the place up, once. */
  leave(): void;
  /** Nobody waits any more: the call goes on at the back, whether there is room or not. */
  toBack(): void;
}

/** The places of a process: so many calls at once on each side, of which no lane and no agent has more than its share on both. */
export interface Places {
  hasRoomFor(call: Call, side: Side): boolean;
  /** Places that nobody has, whoever asks. */
  free(side: Side): number;
  /** Takes a place, whether there is room or not. */
  take(call: Call, side: Side): Place;
  /** Keeps places at the back free for calls that are not known yet; the answer gives them back. */
  keep(count: number): () => void;
  load(): PlaceLoad;
}

/** A call that has run for so long leaves its place to others, and counts only against the shares of its lane and agent. */
export const LONG_MS = 60_000;
/** So many times as many calls may have left their places and still run. */
const LONG_FACTOR = 4;

export function createPlaces(
  { most, mostOfLane, mostOfAgent }: Omit<PlaceLimits, 'mostWaiting'>,
  now: () => number = () => performance.now(),
): Places {
  const lanes = new Map<string, number>();
  const agents = new Map<string, number>();
  /** In the order in which they took their places. */
  const young: Record<Side, Map<symbol, number>> = { front: new Map(), back: new Map() };
  let long = 0;
  let kept = 0;

  function free(side: Side): number {
    const longSince = now() - LONG_MS;
    for (const [place, since] of young[side]) {
      if (since > longSince || long >= LONG_FACTOR * most) break;
      young[side].delete(place);
      long += 1;
    }
    return most - young[side].size - (side === 'back' ? kept : 0);
  }
  return {
    free,
    hasRoomFor: (call, side) =>
      (lanes.get(laneOf(call)) ?? 0) < mostOfLane && (agents.get(call.agentId) ?? 0) < mostOfAgent && free(side) > 0,
    take(call, side) {
      const [lane, place] = [laneOf(call), Symbol()];
      young[side].set(place, now());
      add(lanes, lane, 1);
      add(agents, call.agentId, 1);
      let isLeft = false;
      return {
        leave() {
          if (isLeft) return;
          isLeft = true;
          if (!young.front.delete(place) && !young.back.delete(place)) long -= 1;
          add(lanes, lane, -1);
          add(agents, call.agentId, -1);
        },
        toBack() {
          if (young.front.delete(place)) young.back.set(place, now());
        },
      };
    },
    keep(count) {
      kept += count;
      return () => {
        kept -= count;
      };
    },
    load: () => ({ lanes, agents }),
  };
}

function add(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
