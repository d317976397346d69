import { TWIN_WINDOW_MS } from '../../../invocations/twin-window.ts';
import { createBoundedCache } from '../../../lib/bounded-cache.ts';
import type { FaceRequest } from '../common/face-request.ts';

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
  /** Notes a purchase. `lose` says that its client gets no answer. Returns what to call when the call is answered. */
  note(face: FaceRequest, id: MessageId, lose: () => void): () => void;
  /** The caller has given up on its calls of this id: their purchases count as lost, unless they were answered some seconds ago. */
  giveUp(face: FaceRequest, id: unknown): void;
}

interface Noted {
  readonly lose: () => void;
  /** null: not yet. */
  answeredMs: number | null;
}

export function createGivenUpCalls(): GivenUpCalls {
  const calls = createBoundedCache<readonly Noted[]>(MAX_NAMES, TWIN_WINDOW_MS);
  return {
    note(face, id, lose) {
      const name = nameOf(face, id);
      if (name === null) return () => undefined;
      const noted: Noted = { lose, answeredMs: null };
      // A session numbers its calls once: an answered one of this id was another session's.
      const open = (calls.get(name) ?? []).filter(({ answeredMs }) => answeredMs === null);
      calls.set(name, [...open, noted].slice(-MAX_ALIKE));
      return () => {
        noted.answeredMs = performance.now();
      };
    },
    giveUp(face, id) {
      if (typeof id !== 'string' && typeof id !== 'number') return;
      const name = nameOf(face, id);
      if (name === null) return;
      const sinceMs = performance.now() - CROSSING_MS;
      for (const { lose, answeredMs } of calls.get(name) ?? [])
        if (answeredMs === null || answeredMs >= sinceMs) lose();
      calls.delete(name);
    },
  };
}

/** null: a caller without a key, whom nothing tells from others. */
function nameOf({ caller }: FaceRequest, id: MessageId): string | null {
  if (caller.kind === 'anonymous') return null;
  return JSON.stringify([caller.accountId, caller.kind === 'agent' ? caller.agentId : null, id]);
}
