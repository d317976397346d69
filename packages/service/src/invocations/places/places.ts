import type { PlaceLimits } from '../../config-limits.ts';
import type { Invocation } from '../invocation.ts';

/** The fields of a request that decide its places. */
export type Call = Pick<Invocation, 'accountId' | 'callerAgentId' | 'agentId'>;

/** The unit of fair sharing, stored in the column `lane`: an account, or all agents of one account. */
export const laneOf = ({ accountId, callerAgentId }: Pick<Call, 'accountId' | 'callerAgentId'>): string =>
  callerAgentId === null ? accountId : `${accountId}:agents`;

export interface HasPlaceLimits {
  readonly placeLimits: PlaceLimits;
}

/** Places in use, by lane and agent; those without any are absent. */
export interface PlaceLoad {
  readonly lanes: ReadonlyMap<string, number>;
  readonly agents: ReadonlyMap<string, number>;
}

/** Calls in front have a waiting caller; calls at the back neither take their places nor wait behind them. */
export type Side = 'front' | 'back';

export interface Place {
  /** Releases the place. Idempotent. */
  leave(): void;
  /** Moves the call to the back, with or without room, because its caller no longer waits. */
  toBack(): void;
}

/** The places of a process: a maximum of concurrent calls on each side, with shares for each lane and agent. */
export interface Places {
  hasRoomFor(call: Call, side: Side): boolean;
  /** Number of free places, before shares. */
  free(side: Side): number;
  /** Takes a place, even beyond the maximum. */
  take(call: Call, side: Side): Place;
  /** Reserves places at the back for calls that are not known yet; call the result to release them. */
  keep(count: number): () => void;
  load(): PlaceLoad;
}

/** A call that runs longer than this releases its place and counts only in the shares of its lane and agent. */
export const LONG_MS = 60_000;
/** Maximum of such long calls, as a multiple of the places. */
const LONG_FACTOR = 4;

export function createPlaces(
  { most, mostOfLane, mostOfAgent }: Omit<PlaceLimits, 'mostWaiting'>,
  now: () => number = () => performance.now(),
): Places {
  const lanes = new Map<string, number>();
  const agents = new Map<string, number>();
  /** Keyed in the order in which they took their places. */
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
