import { LRUCache } from 'lru-cache';
import type { HasDb } from '../../db/database.ts';
import type { HasClock } from '../../lib/clock.ts';
import { findWindow, leaseCalls, returnCall } from './access-store.ts';
import { type CountedClass, HOUR_MS, type LimitState, leaseSize } from './rate-limit.ts';

interface Counter {
  /** Leased calls that are not spent yet. */
  left: number;
  /** Calls that no process has leased, as last read. */
  unleased: number;
  endsAtMs: number;
  /** The largest limit found exhausted; valid until the window ends, unless calls can be given back. */
  usedUp: number;
  /** Serializes takers, so that a burst leases once and not once each. */
  line: Promise<unknown>;
}

export interface RateLimiter {
  /** Counts one call against the limit, or reports that it is exhausted. */
  take(subject: string, limitClass: CountedClass, limit: number): Promise<LimitState>;
  /** Undoes one `take` of an invocation that turned out to be none (unpaid, or a replay). No effect after its hour. */
  giveBack(subject: string, limitClass: CountedClass, taken: LimitState): Promise<void>;
  /** State of a limit, counting nothing. Exact except for calls that other processes have leased and not spent. */
  look(subject: string, limitClass: CountedClass, limit: number): Promise<LimitUse>;
}

/** Use of a limit in the current window; `resetAt` is null without one. */
export interface LimitUse {
  readonly limit: number;
  readonly used: number;
  readonly remaining: number;
  readonly resetAt: string | null;
}

export interface HasRateLimiter {
  readonly rateLimiter: RateLimiter;
}

const MAX_SUBJECTS = 50_000;

const resetOf = (counter: Counter) => Math.ceil(counter.endsAtMs / 1000);

/** Anchored windows of an hour in the database, leased in small lots: never over the limit, with any number of processes. */
export function createRateLimiter(ctx: HasDb & HasClock): RateLimiter {
  const counters = new LRUCache<string, Counter>({ max: MAX_SUBJECTS });
  const nowMs = () => ctx.clock.now().getTime();

  const counterOf = (name: string): Counter => {
    const known = counters.get(name);
    if (known && known.endsAtMs > nowMs()) return known;
    const fresh = {
      left: 0,
      unleased: 0,
      endsAtMs: Number.POSITIVE_INFINITY,
      usedUp: 0,
      line: known?.line ?? Promise.resolve(),
    };
    counters.set(name, fresh);
    return fresh;
  };

  const state = (counter: Counter, limit: number, isAllowed: boolean): LimitState => ({
    limit,
    remaining: Math.max(0, counter.left + counter.unleased),
    resetS: resetOf(counter),
    isAllowed,
  });

  async function lease(
    counter: Counter,
    subject: string,
    limitClass: CountedClass,
    limit: number,
  ): Promise<LimitState> {
    if (isUsedUp(counter, limitClass, limit)) return state(counter, limit, false);
    if (counter.left === 0) {
      const got = await leaseCalls(ctx.db, {
        subject,
        limitClass,
        limit,
        wanted: leaseSize(limit),
        now: ctx.clock.now(),
      });
      counter.left += got.granted;
      counter.unleased = limit - got.used;
      counter.endsAtMs = got.startedAt.getTime() + HOUR_MS;
    }
    if (counter.left === 0) {
      counter.usedUp = Math.max(counter.usedUp, limit);
      return state(counter, limit, false);
    }
    counter.left -= 1;
    return state(counter, limit, true);
  }

  /** Calls beyond the limit cost no query. For invocations the counter is read: another process may have given some back. */
  const isUsedUp = ({ usedUp, left, endsAtMs }: Counter, limitClass: CountedClass, limit: number): boolean =>
    limitClass !== 'invocations' && left === 0 && limit <= usedUp && endsAtMs > nowMs();

  return {
    async take(subject, limitClass, limit) {
      const counter = counterOf(`${limitClass} ${subject}`);
      if (counter.left > 0) {
        counter.left -= 1;
        return state(counter, limit, true);
      }
      if (isUsedUp(counter, limitClass, limit)) return state(counter, limit, false);
      const turn = counter.line.then(() => lease(counter, subject, limitClass, limit));
      counter.line = turn.catch(() => undefined);
      return turn;
    },
    async look(subject, limitClass, limit) {
      const window = await findWindow(ctx.db, { subject, limitClass });
      const endsAtMs = window ? window.startedAt.getTime() + HOUR_MS : 0;
      if (!window || endsAtMs <= nowMs()) return { limit, used: 0, remaining: limit, resetAt: null };
      const counter = counters.get(`${limitClass} ${subject}`);
      const unspent = counter?.endsAtMs === endsAtMs ? counter.left : 0;
      const used = Math.min(limit, Math.max(0, window.used - unspent));
      return { limit, used, remaining: limit - used, resetAt: new Date(endsAtMs).toISOString() };
    },
    async giveBack(subject, limitClass, taken) {
      const counter = counterOf(`${limitClass} ${subject}`);
      if (resetOf(counter) !== taken.resetS) return;
      const startedAt = new Date(counter.endsAtMs - HOUR_MS);
      if (leaseSize(taken.limit) > 1) counter.left += 1;
      else await returnCall(ctx.db, { subject, limitClass, startedAt });
    },
  };
}
