import type { SlotLimits } from '../../config/limits.ts';
import type { Invocation } from '../invocation.ts';

/** The fields of a request that decide its slots. */
export type Call = Pick<Invocation, 'accountId' | 'callerAgentId' | 'agentId'>;

/** The unit of fair sharing, stored in the column `lane`: an account, or all agents of one account. */
export const tenantOf = ({ accountId, callerAgentId }: Pick<Call, 'accountId' | 'callerAgentId'>): string =>
  callerAgentId === null ? accountId : `${accountId}:agents`;

/** Slots in use, by tenant and agent; those without any are absent. */
export interface SlotLoad {
  readonly tenants: ReadonlyMap<string, number>;
  readonly agents: ReadonlyMap<string, number>;
}

/** Calls in front have a waiting caller; calls at the back neither take their slots nor wait behind them. */
export type Side = 'front' | 'back';

export interface Slot {
  /** Releases the slot. Idempotent. */
  leave(): void;
  /** Moves the call to the back, with or without room, because its caller no longer waits. */
  toBack(): void;
}

/** The slots of a process: a maximum of concurrent calls on each side, with shares for each tenant and agent. */
export interface Slots {
  hasRoomFor(call: Call, side: Side): boolean;
  /** Number of free slots, before shares. */
  free(side: Side): number;
  /** Takes a slot, even beyond the maximum. */
  take(call: Call, side: Side): Slot;
  /** Reserves slots at the back for calls that are not known yet; call the result to release them. */
  keep(count: number): () => void;
  load(): SlotLoad;
}

/** A call that runs longer than this releases its slot and counts only in the shares of its tenant and agent. */
export const LONG_MS = 60_000;
/** Maximum of such long calls, as a multiple of the slots. */
const LONG_FACTOR = 4;

export function createSlots(
  { max, maxPerTenant, maxPerAgent }: Omit<SlotLimits, 'maxWaiting'>,
  now: () => number = () => performance.now(),
): Slots {
  const tenants = new Map<string, number>();
  const agents = new Map<string, number>();
  /** Keyed in the order in which they took their slots. */
  const young: Record<Side, Map<symbol, number>> = { front: new Map(), back: new Map() };
  let long = 0;
  let kept = 0;

  function free(side: Side): number {
    const longSince = now() - LONG_MS;
    for (const [slot, since] of young[side]) {
      if (since > longSince || long >= LONG_FACTOR * max) break;
      young[side].delete(slot);
      long += 1;
    }
    return max - young[side].size - (side === 'back' ? kept : 0);
  }
  return {
    free,
    hasRoomFor: (call, side) =>
      (tenants.get(tenantOf(call)) ?? 0) < maxPerTenant &&
      (agents.get(call.agentId) ?? 0) < maxPerAgent &&
      free(side) > 0,
    take(call, side) {
      const [tenant, slot] = [tenantOf(call), Symbol()];
      young[side].set(slot, now());
      add(tenants, tenant, 1);
      add(agents, call.agentId, 1);
      let isLeft = false;
      return {
        leave() {
          if (isLeft) return;
          isLeft = true;
          if (!young.front.delete(slot) && !young.back.delete(slot)) long -= 1;
          add(tenants, tenant, -1);
          add(agents, call.agentId, -1);
        },
        toBack() {
          if (young.front.delete(slot)) young.back.set(slot, now());
        },
      };
    },
    keep(count) {
      kept += count;
      return () => {
        kept -= count;
      };
    },
    load: () => ({ tenants, agents }),
  };
}

function add(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
