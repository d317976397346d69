import { createPoller } from '../../lib/concurrency/poller.ts';
import type { Telemetry } from '../../lib/telemetry/telemetry.ts';
import type { Store } from '../../store/database.ts';
import type { Caller } from '../caller.ts';
import { isUnkeyed } from '../keyless-caller.ts';
import { listLiving } from '../limits/access-store.ts';
import { IDLE_MS } from '../session.ts';

/** Ends the streams of keys and sessions that are no longer valid. */
export interface Revocations {
  /**
   * A signal that aborts with `signal`, or within a second after the caller's key or session was revoked or expired. Callers without either
   * get `signal` itself. Abort `signal` when done, to release it.
   */
  whileValid(caller: Caller, signal: AbortSignal): AbortSignal;
}

/** Poll interval for all streams of the process: one query over their keys. */
const LOOK_MS = 500;

export function createRevocations(ctx: Store & Telemetry): Revocations {
  const watched = new Map<string, Set<AbortController>>();

  async function look(): Promise<void> {
    const keyIds = [...watched.keys()];
    const living = await livingKeys(ctx, keyIds);
    for (const keyId of keyIds) if (!living.has(keyId)) for (const stream of watched.get(keyId) ?? []) stream.abort();
  }

  const poller = createPoller({
    intervalMs: LOOK_MS,
    poll: look,
    hasWaiters: () => watched.size > 0,
    onError: (err) => ctx.log.debug({ err }, 'polling of the keys of streams failed'),
  });

  return {
    whileValid(caller, signal) {
      if (caller.kind !== 'account' || isUnkeyed(caller) || signal.aborted) return signal;
      const { keyId } = caller;
      const stream = new AbortController();
      const streams = watched.get(keyId) ?? new Set();
      watched.set(keyId, streams.add(stream));
      signal.addEventListener(
        'abort',
        () => {
          streams.delete(stream);
          if (streams.size === 0 && watched.get(keyId) === streams) watched.delete(keyId);
          stream.abort();
        },
        { once: true },
      );
      poller.start();
      return stream.signal;
    },
  };
}

/** The valid ones of these keys and sessions: not revoked, not expired, and a session not idle for too long. */
export async function livingKeys(ctx: Store, keyIds: readonly string[]): Promise<ReadonlySet<string>> {
  const now = ctx.clock.now();
  return new Set(await listLiving(ctx.db, keyIds, { now, seenAfter: new Date(now.getTime() - IDLE_MS) }));
}
