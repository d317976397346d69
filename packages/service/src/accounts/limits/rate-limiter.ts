import { createBoundedCache } from '../../lib/bounded-cache.ts';
import { createBatcher } from '../../lib/concurrency/batcher.ts';
import { HOUR_MS } from '../../lib/duration.ts';
import { removeInSteps } from '../../lib/retention.ts';
import type { Store } from '../../store/database.ts';
import { isRolledBack } from '../../store/database-away.ts';
import { type CountedClass, type LimitState, leaseSize } from './rate-limit.ts';
import {
  dropWindows,
  findWindow,
  type LeaseRequest,
  leaseCalls,
  nameOf,
  type ReturnedCall,
  returnCalls,
  type Window,
  type WindowLease,
} from './window-store.ts';

/** A lease with a size that is decided when its statement is sent. */
interface OpenLease extends Omit<LeaseRequest, 'wanted'> {
  readonly wanted: () => number;
}

interface Taker {
  readonly limit: number;
  resolve(state: LimitState): void;
  reject(error: unknown): void;
}

interface Counter {
  /** Leased calls that are not spent yet. */
  left: number;
  /** Calls that no process has leased, as last read. */
  unleased: number;
  endsAtMs: number;
  /** The largest limit found exhausted; valid until the window ends, unless calls can be given back. */
  usedUp: number;
  /** Calls that wait for a lease, in order. */
  takers: Taker[];
  isLeasing: boolean;
}

export interface RateLimiter {
  /** Counts one call against the limit, or reports that it is exhausted. */
  take(subject: string, limitClass: CountedClass, limit: number): Promise<LimitState>;
  /** Undoes one `take` of a call that turned out not to count (unpaid, refused, or a replay). No effect after its hour. */
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

const MAX_SUBJECTS = 50_000;
/** Windows of one statement, and statements at a time. */
const MAX_BATCH = 200;
const MAX_BATCHES = 4;

/** Classes of calls that can be given back, also by another process. */
const returnable: ReadonlySet<CountedClass> = new Set(['invocations', 'freeCalls']);

const resetOf = (counter: Counter) => Math.ceil(counter.endsAtMs / 1000);

/** Leases and returns of all callers that wait at the same time share a statement. */
function createWindows(ctx: Store) {
  const leases = createBatcher<OpenLease, WindowLease>({
    run: (open) =>
      leaseCalls(
        ctx.db,
        open.map((request) => ({ ...request, wanted: request.wanted() })),
        ctx.clock.now(),
      ),
    maxSize: MAX_BATCH,
    maxConcurrent: MAX_BATCHES,
    keyOf: nameOf,
    canSplit: isRolledBack,
  });
  const returns = createBatcher<ReturnedCall, void>({
    run: async (calls) => {
      await returnCalls(ctx.db, calls);
      return calls.map(() => undefined);
    },
    maxSize: MAX_BATCH,
    canSplit: isRolledBack,
  });
  return { lease: leases.add, giveBack: returns.add };
}

const state = (counter: Counter, limit: number, isAllowed: boolean): LimitState => ({
  limit,
  remaining: Math.max(0, counter.left + counter.unleased),
  resetS: resetOf(counter),
  isAllowed,
});

/**
 * Anchored windows of an hour in the database, leased in small lots: never over the limit, with any number of processes. Calls that wait at
 * the same time are leased together: a lot of exactly their number, where the limit is small.
 */
export function createRateLimiter(ctx: Store): RateLimiter {
  const counters = createBoundedCache<Counter>(MAX_SUBJECTS);
  const windows = createWindows(ctx);
  const nowMs = () => ctx.clock.now().getTime();

  const counterOf = (window: Window): Counter => {
    const name = nameOf(window);
    const known = counters.get(name);
    if (known && known.endsAtMs > nowMs()) return known;
    const fresh = {
      left: 0,
      unleased: 0,
      endsAtMs: Number.POSITIVE_INFINITY,
      usedUp: 0,
      takers: [],
      isLeasing: false,
    };
    counters.set(name, fresh);
    return fresh;
  };

  const leasing = createLeasing(windows, nowMs);

  return {
    async take(subject, limitClass, limit) {
      const window = { subject, limitClass };
      const counter = counterOf(window);
      // The calls of a lease that is under way have the first claim on what is left.
      if (counter.left > 0 && !counter.isLeasing) return spendOne(counter, limit);
      if (leasing.isUsedUp(counter, window, limit)) return state(counter, limit, false);
      return leasing.wait(counter, window, limit);
    },
    async look(subject, limitClass, limit) {
      const window = await findWindow(ctx.db, { subject, limitClass });
      const endsAtMs = window ? window.startedAt.getTime() + HOUR_MS : 0;
      if (!window || endsAtMs <= nowMs()) return { limit, used: 0, remaining: limit, resetAt: null };
      const counter = counters.get(nameOf({ subject, limitClass }));
      const unspent = counter?.endsAtMs === endsAtMs ? counter.left : 0;
      const used = Math.min(limit, Math.max(0, window.used - unspent));
      return { limit, used, remaining: limit - used, resetAt: new Date(endsAtMs).toISOString() };
    },
    async giveBack(subject, limitClass, taken) {
      const counter = counterOf({ subject, limitClass });
      if (resetOf(counter) !== taken.resetS) return;
      const startedAt = new Date(counter.endsAtMs - HOUR_MS);
      if (leaseSize(taken.limit) > 1) counter.left += 1;
      else await windows.giveBack({ subject, limitClass, startedAt });
    },
  };
}

/** Leases calls for the ones that wait for them, one lease of a window at a time. */
function createLeasing(windows: ReturnType<typeof createWindows>, nowMs: () => number) {
  /** Serves the calls that wait, the first ones of one limit at a time. */
  async function serve(counter: Counter, window: Window): Promise<void> {
    counter.isLeasing = true;
    for (let first = counter.takers[0]; first; first = counter.takers[0]) {
      const { limit } = first;
      const group = { size: leadersOf(counter, limit) };
      try {
        if (counter.left < group.size && !isUsedUp(counter, window, limit)) await lease(counter, window, limit, group);
        for (const { resolve } of counter.takers.splice(0, group.size)) resolve(spendOne(counter, limit));
      } catch (error) {
        for (const { reject } of counter.takers.splice(0, group.size)) reject(error);
      }
    }
    counter.isLeasing = false;
  }

  async function lease(counter: Counter, window: Window, limit: number, group: { size: number }): Promise<void> {
    const wanted = () => {
      group.size = leadersOf(counter, limit);
      return Math.max(group.size - counter.left, leaseSize(limit));
    };
    const got = await windows.lease({ ...window, limit, wanted });
    const endsAtMs = got.startedAt.getTime() + HOUR_MS;
    // The remainder of an ended window is void.
    counter.left = got.granted + (counter.endsAtMs === endsAtMs ? counter.left : 0);
    counter.unleased = Math.max(0, limit - got.used);
    counter.endsAtMs = endsAtMs;
  }

  /** Calls beyond the limit cost no query. For those that may be given back the counter is read: another process may have given some back. */
  const isUsedUp = ({ usedUp, left, endsAtMs }: Counter, { limitClass }: Window, limit: number): boolean =>
    !returnable.has(limitClass) && left === 0 && limit <= usedUp && endsAtMs > nowMs();

  return {
    isUsedUp,
    wait: (counter: Counter, window: Window, limit: number): Promise<LimitState> =>
      new Promise((resolve, reject) => {
        counter.takers.push({ limit, resolve, reject });
        if (!counter.isLeasing) void serve(counter, window);
      }),
  };
}

/** Number of the first waiting calls with this limit. An account that changes its plan has two limits for a moment. */
function leadersOf({ takers }: Counter, limit: number): number {
  const end = takers.findIndex((taker) => taker.limit !== limit);
  return end === -1 ? takers.length : end;
}

function spendOne(counter: Counter, limit: number): LimitState {
  if (counter.left === 0) {
    counter.usedUp = Math.max(counter.usedUp, limit);
    return state(counter, limit, false);
  }
  counter.left -= 1;
  return state(counter, limit, true);
}

/** Windows last an hour; the second one allows for clock differences between processes. */
const KEPT_MS = 2 * 3_600_000;

/** Removes windows of limits that have ended: each address that has made a call has one. */
export const forgetWindows = (ctx: Store): Promise<void> =>
  removeInSteps((most) => dropWindows(ctx.db, new Date(ctx.clock.now().getTime() - KEPT_MS), most));
