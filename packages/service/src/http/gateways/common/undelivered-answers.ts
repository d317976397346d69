import { hash } from 'node:crypto';
import type { KnownCaller } from '../../../accounts/caller.ts';
import { KEYLESS } from '../../../accounts/keyless-caller.ts';
import { TWIN_WINDOW_MS } from '../../../calls/read/find-twin.ts';
import { createBoundedCache } from '../../../lib/bounded-cache.ts';
import type { GatewayRequest } from './gateway-request.ts';

const MAX_NAMES = 10_000;

/**
 * Purchases with an answer that did not reach the client. Clients of protocols without an idempotency key repeat the call unchanged, so an
 * identical call of the same caller within ten minutes is the same purchase. Kept in this process only. An answer that was sent completely
 * counts as received.
 */
export interface UndeliveredAnswers {
  /** An undelivered purchase of this name, which counts as delivered from now on; null: none. */
  take(name: string): Promise<string | null>;
  /** The purchase that `take` would take. It counts as answered once `take` of the result is called. */
  find(name: string): Promise<Lost | null>;
  /**
   * Marks a purchase as undelivered if its client leaves before the answer is complete, or when the returned function is called.
   * `requestId`: null for one that is not its client's.
   */
  watch(opened: GatewayRequest, name: string, requestId: Promise<string | null>): () => void;
}

interface Lost {
  readonly requestId: string;
  take(): void;
}

export function createUndeliveredAnswers(): UndeliveredAnswers {
  const lost = createBoundedCache<Promise<string | null>[]>(MAX_NAMES, TWIN_WINDOW_MS);
  const drop = (name: string, requestId: Promise<string | null>): void => {
    const left = (lost.get(name) ?? []).filter((each) => each !== requestId);
    if (left.length > 0) lost.set(name, left, { noUpdateTTL: true });
    else lost.delete(name);
  };
  return {
    async take(name) {
      const requestIds = lost.get(name) ?? [];
      for (let requestId = requestIds.pop(); requestId; requestId = requestIds.pop()) {
        const started = await requestId.catch(() => null);
        if (started) return started;
      }
      return null;
    },
    async find(name) {
      for (const requestId of (lost.get(name) ?? []).toReversed()) {
        const started = await requestId.catch(() => null);
        if (started) return { requestId: started, take: () => drop(name, requestId) };
      }
      return null;
    },
    watch({ c }, name, requestId) {
      const { signal } = c.req.raw;
      let isLost = false;
      const lose = () => {
        if (isLost) return;
        isLost = true;
        signal.removeEventListener('abort', lose);
        lost.set(name, [...(lost.get(name) ?? []), requestId]);
        // Anybody can send calls that buy nothing and hang up.
        void requestId.catch(() => null).then((id) => id === null && drop(name, requestId));
      };
      if (signal.aborted) lose();
      else signal.addEventListener('abort', lose);
      requestId.catch(() => signal.removeEventListener('abort', lose));
      return lose;
    },
  };
}

/** A name of a call: the same for identical calls of the same caller, and for no others. */
export const callNameOf = (caller: KnownCaller, agentId: string, body: unknown): string =>
  nameOf(caller.accountId, caller.kind === 'agent' ? caller.agentId : null, agentId, body);

/** Name of a call without a key, by the wallet in its payment, which has not proven ownership of it. */
export const keylessCallNameOf = (wallet: string, agentId: string, body: unknown): string =>
  nameOf(KEYLESS, wallet, agentId, body);

const nameOf = (...parts: readonly unknown[]): string => hash('sha256', JSON.stringify(parts), 'base64');
