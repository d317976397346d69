import { hash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { KnownCaller } from '../../../accounts/caller.ts';
import { KEYLESS } from '../../../accounts/keyless-caller.ts';
import { resolveAgent } from '../../../agents/search/find-agent.ts';
import { TWIN_WINDOW_MS } from '../../../calls/read/find-twin.ts';
import { AUTO } from '../../../calls/start/invocation-purchase.ts';
import { createBoundedCache } from '../../../lib/bounded-cache.ts';
import type { Store } from '../../../store/database.ts';
import { connectionOf } from '../../answer/answer-watch.ts';
import type { GatewayRequest } from './gateway-request.ts';

const MAX_NAMES = 10_000;
/** Time that the news of a client that left may come after its repetition, which has a connection of its own. */
const OVERTAKEN_MS = 250;

/**
 * Purchases with an answer that did not reach the client. Clients of protocols without an idempotency key repeat the call unchanged, so an
 * identical call of the same caller within ten minutes is the same purchase. Kept in this process only. An answer that was sent completely
 * counts as received. While an identical call is waited for, `take` and `find` wait a moment: its client may have left it already.
 */
export interface UndeliveredAnswers {
  /** An undelivered purchase of this name, which counts as delivered from now on; null: none. */
  take(name: string): Promise<string | null>;
  /** The purchase that `take` would take. It counts as answered once `take` of the result is called. */
  find(name: string): Promise<Lost | null>;
  /** Removes a purchase of this name: its client has the answer. */
  drop(name: string, requestId: string): Promise<void>;
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

/** Calls that are waited for, by name. */
type Awaited = Map<string, Set<Promise<void>>>;

/** Notes a call as waited for until its answer is sent, or its client has left. `leave` is called in the second case. */
function awaitAnswer(awaited: Awaited, name: string, { c }: GatewayRequest, leave: () => void): () => void {
  const outgoing = connectionOf(c)?.outgoing;
  if (!outgoing || outgoing.closed) return () => undefined;
  const { promise, resolve } = Promise.withResolvers<void>();
  const same = awaited.get(name) ?? new Set();
  awaited.set(name, same.add(promise));
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) leave();
    resolve();
  });
  void promise.then(() => {
    same.delete(promise);
    if (same.size === 0 && awaited.get(name) === same) awaited.delete(name);
  });
  return resolve;
}

export function createUndeliveredAnswers(): UndeliveredAnswers {
  const lost = createBoundedCache<Promise<string | null>[]>(MAX_NAMES, TWIN_WINDOW_MS);
  const awaited: Awaited = new Map();
  const drop = (name: string, requestId: Promise<string | null>): void => {
    const left = (lost.get(name) ?? []).filter((each) => each !== requestId);
    if (left.length > 0) lost.set(name, left, { noUpdateTTL: true });
    else lost.delete(name);
  };
  const overtaken = async (name: string): Promise<void> => {
    const same = awaited.get(name);
    if (same && !lost.has(name)) await Promise.race([...same, delay(OVERTAKEN_MS)]);
  };
  return {
    async take(name) {
      await overtaken(name);
      const requestIds = lost.get(name) ?? [];
      for (let requestId = requestIds.pop(); requestId; requestId = requestIds.pop()) {
        const started = await requestId.catch(() => null);
        if (started) return started;
      }
      return null;
    },
    async find(name) {
      await overtaken(name);
      for (const requestId of (lost.get(name) ?? []).toReversed()) {
        const started = await requestId.catch(() => null);
        if (started) return { requestId: started, take: () => drop(name, requestId) };
      }
      return null;
    },
    async drop(name, requestId) {
      for (const each of lost.get(name) ?? []) if ((await each.catch(() => null)) === requestId) drop(name, each);
    },
    watch(opened, name, requestId) {
      const { signal } = opened.c.req.raw;
      let isLost = false;
      const lose = () => {
        if (isLost) return;
        isLost = true;
        signal.removeEventListener('abort', lose);
        lost.set(name, [...(lost.get(name) ?? []), requestId]);
        end();
        // Anybody can send calls that buy nothing and hang up.
        void requestId.catch(() => null).then((id) => id === null && drop(name, requestId));
      };
      const end = awaitAnswer(awaited, name, opened, lose);
      if (signal.aborted) lose();
      else signal.addEventListener('abort', lose);
      requestId.catch(() => {
        signal.removeEventListener('abort', lose);
        end();
      });
      return lose;
    },
  };
}

/** A name of a call: the same for identical calls of the same caller, and for no others. */
export const callNameOf = async (ctx: Named, caller: KnownCaller, agent: string, body: unknown): Promise<string> =>
  nameOf(caller.accountId, caller.kind === 'agent' ? caller.agentId : null, await meantBy(ctx, agent), body);

/** Name of a call without a key, by the wallet in its payment, which has not proven ownership of it. */
export const keylessCallNameOf = async (ctx: Named, wallet: string, agent: string, body: unknown): Promise<string> =>
  nameOf(KEYLESS, wallet, await meantBy(ctx, agent), body);

type Named = Pick<Store, 'db'>;

/** The id of an agent, however it is named, so that calls by id, slug and name are identical. One that is not found is refused later. */
const meantBy = (ctx: Named, agent: string): Promise<string> =>
  agent === AUTO ? Promise.resolve(agent) : resolveAgent(ctx, agent, 'agentId').catch(() => agent);

const nameOf = (...parts: readonly unknown[]): string => hash('sha256', JSON.stringify(parts), 'base64');
