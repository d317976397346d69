import type { HasDb } from '../../db/database.ts';
import type { HasClock } from '../../lib/clock.ts';
import { createPoller } from '../../lib/concurrency/poller.ts';
import type { HasLog } from '../../lib/log/log.ts';
import type { Caller } from '../caller/caller.ts';
import { isUnkeyed } from '../caller/keyless-caller.ts';
import { livingKeys } from './living-keys.ts';

/** Ends the streams of keys and sessions that are no longer valid. */
export interface KeyWatch {
  /**
   * A signal that aborts with this one, and within a second after the caller's key or session was revoked or has expired; of callers without
   * either, this one. It must abort at the end of what it is for.
   */
  whileValid(caller: Caller, signal: AbortSignal): AbortSignal;
}

export interface HasKeyWatch {
  readonly keyWatch: KeyWatch;
}

/** Poll interval for all streams of the process: one query over their keys. */
const LOOK_MS = 500;

export function createKeyWatch(ctx: HasDb & HasClock & HasLog): KeyWatch {
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
