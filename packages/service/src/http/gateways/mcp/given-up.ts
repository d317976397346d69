import { TWIN_WINDOW_MS } from '../../../calls/read/find-twin.ts';
import { createBoundedCache } from '../../../lib/bounded-cache.ts';
import type { GatewayRequest } from '../common/gateway-request.ts';

const MAX_NAMES = 10_000;
/** Clients that use one API key at the same time, and number their messages alike. */
const MAX_ALIKE = 16;
/** A client that gives up as its answer arrives has not read it. */
const CROSSING_MS = 5_000;

type MessageId = string | number;

/**
 * Purchases by the JSON-RPC ids of the calls that made them. A client of a protocol with a handshake gives up on a call by a message of its own,
 * `notifications/cancelled`, and leaves the call's connection open. It names the call by its id, which is unique in its session only: here,
 * among the calls of its account. Known to this process alone.
 */
export interface GivenUpCalls {
  /** Records a purchase. `lose` marks its answer as undelivered. Returns a function to call when the call is answered. */
  record(opened: GatewayRequest, id: MessageId, lose: () => void): () => void;
  /** The caller has given up on its calls of this id: their purchases count as lost, unless they were answered some seconds ago. */
  giveUp(opened: GatewayRequest, id: unknown): void;
}

interface Noted {
  readonly lose: () => void;
  /** null: not yet. */
  answeredMs: number | null;
}

export function createGivenUpCalls(): GivenUpCalls {
  const calls = createBoundedCache<readonly Noted[]>(MAX_NAMES, TWIN_WINDOW_MS);
  return {
    record(opened, id, lose) {
      const name = nameOf(opened, id);
      if (name === null) return () => undefined;
      const noted: Noted = { lose, answeredMs: null };
      // A session numbers its calls once: an answered one of this id was another session's.
      const open = (calls.get(name) ?? []).filter(({ answeredMs }) => answeredMs === null);
      calls.set(name, [...open, noted].slice(-MAX_ALIKE));
      return () => {
        noted.answeredMs = performance.now();
      };
    },
    giveUp(opened, id) {
      if (typeof id !== 'string' && typeof id !== 'number') return;
      const name = nameOf(opened, id);
      if (name === null) return;
      const sinceMs = performance.now() - CROSSING_MS;
      for (const { lose, answeredMs } of calls.get(name) ?? [])
        if (answeredMs === null || answeredMs >= sinceMs) lose();
      calls.delete(name);
    },
  };
}

/** Name of a call. null: a caller without a key, who can't be identified. */
function nameOf({ caller }: GatewayRequest, id: MessageId): string | null {
  if (caller.kind === 'anonymous') return null;
  return JSON.stringify([caller.accountId, caller.kind === 'agent' ? caller.agentId : null, id]);
}
