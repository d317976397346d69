import { setTimeout as delay } from 'node:timers/promises';
import { TWIN_WINDOW_MS } from '../../../calls/read/find-twin.ts';
import { createBoundedCache } from '../../../lib/bounded-cache.ts';
import type { GatewayRequest } from '../common/gateway-request.ts';

const MAX_NAMES = 10_000;
/** Clients that use one API key at the same time, and number their messages alike. */
const MAX_ALIKE = 16;
/** A client that gives up as its answer arrives has not read it. */
const CROSSING_MS = 5_000;
/** Time that a cancellation may arrive after the repetition, which has a connection of its own. */
const OVERTAKEN_MS = 250;

type MessageId = string | number;

/**
 * Purchases by the JSON-RPC ids of the calls that made them. A client of a protocol with a handshake gives up on a call by a message of its own,
 * `notifications/cancelled`, and leaves the call's connection open. It names the call by its id, which is unique in its session only: here,
 * among the calls of its account. Known to this process alone.
 */
export interface GivenUpCalls {
  /**
   * Records a purchase of `name`, the same for identical calls. `lose` marks its answer as undelivered. Returns a function to call when the
   * call is answered.
   */
  record(opened: GatewayRequest, id: MessageId, call: NamedCall): () => void;
  /** Resolves when an identical call that is waited for is given up or answered, or soon: its cancellation may be on its way. */
  overtaken(name: string): Promise<void>;
  /** The caller has given up on its calls of this id: their purchases count as lost, unless they were answered some seconds ago. */
  giveUp(opened: GatewayRequest, id: unknown): void;
}

interface NamedCall {
  readonly name: string;
  readonly lose: () => void;
}

interface Noted {
  readonly lose: () => void;
  /** null: not yet. */
  answeredMs: number | null;
}

export function createGivenUpCalls(): GivenUpCalls {
  const calls = createBoundedCache<readonly Noted[]>(MAX_NAMES, TWIN_WINDOW_MS);
  const awaited = new Map<string, Set<Promise<void>>>();

  /** Notes an identical call as waited for until the returned function is called, or its client hangs up. */
  const waitedFor = (name: string, { signal }: Request): (() => void) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const same = awaited.get(name) ?? new Set();
    awaited.set(name, same.add(promise));
    const end = () => {
      signal.removeEventListener('abort', end);
      same.delete(promise);
      if (same.size === 0 && awaited.get(name) === same) awaited.delete(name);
      resolve();
    };
    if (signal.aborted) end();
    else signal.addEventListener('abort', end);
    return end;
  };

  return {
    async overtaken(name) {
      const same = awaited.get(name);
      if (same) await Promise.race([...same, delay(OVERTAKEN_MS)]);
    },
    record(opened, id, call) {
      const name = nameOf(opened, id);
      if (name === null) return () => undefined;
      const end = waitedFor(call.name, opened.c.req.raw);
      const lose = () => {
        call.lose();
        end();
      };
      const noted: Noted = { lose, answeredMs: null };
      // A session numbers its calls once: an answered one of this id was another session's.
      const open = (calls.get(name) ?? []).filter(({ answeredMs }) => answeredMs === null);
      calls.set(name, [...open, noted].slice(-MAX_ALIKE));
      return () => {
        noted.answeredMs = performance.now();
        end();
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
