import type { KnownCaller } from '../../accounts/caller.ts';
import { AppError } from '../../lib/app-error.ts';
import { createBoundedCache } from '../../lib/bounded-cache.ts';
import type { NodeProcess } from '../../store/queue/heartbeat.ts';
import type { CallServices } from '../call-services.ts';
import type { Invocation } from '../invocation.ts';
import { hasQueued, type LineOf, queuedTenants, readLine, takeQueued } from './queue-store.ts';
import { type RunContext, runInvocation } from './run-invocation.ts';
import type { Reservation } from './runner.ts';
import { type Call, tenantOf } from './slots.ts';

/** The queue of requests that found no slot. */
export interface Backlog extends Lines {
  /** True when requests are queued, as far as this process knows. */
  isWaiting(): boolean;
  /**
   * Reserves slots at the back for new calls; none for tenants that have queued requests, nor while the queue waits for any slot at all.
   */
  reserve(calls: readonly Call[]): Reservation;
  /** Records that requests of a tenant were queued, and dequeues as many as there is room for. */
  add(tenant: string): void;
  /** Dequeues as many requests as there is room for. */
  pump(): Promise<void>;
}

const noSlots = (calls: readonly Call[]): Reservation => ({
  granted: calls.map(() => false),
  giveBack: () => undefined,
});

/** Batch size of dequeuing: its reservation is briefly not available to new calls. */
const MAX_TAKEN = 100;

/** Maximum tenants known by name to have queued requests; beyond it, all new calls are queued. */
const MAX_TENANTS = 1000;

/**
 * Dequeues requests whenever there is room: tenants in turn, the one with the fewest slots first, and within a tenant by priority. A tenant or
 * an agent at its share blocks no other. A process that drains leaves the queue to the others.
 */
export function createBacklog(ctx: RunContext & Pick<CallServices, 'runner' | 'slotLimits'> & NodeProcess): Backlog {
  /** A queued request may be waiting for room alone, not for a share. */
  let isCrowded = false;
  /** Tenants with queued requests, as far as known: they, or the agents that they call, may be at their share. */
  let held = new Set<string>();
  let lastTenant = '';
  const lines = createLines(ctx);
  let pumping: Promise<void> | null = null;
  let isAskedAgain = false;

  async function pumpOnce(): Promise<void> {
    if (ctx.drain.isAsked()) return;
    // Read first when none is known: a reservation takes room from new calls.
    if (!isCrowded && held.size === 0 && !(await hasQueued(ctx.db))) return;
    const { room, load, giveBack } = ctx.runner.reserveAny(MAX_TAKEN);
    isCrowded = room === 0;
    if (isCrowded) return;
    try {
      const line = { room, load, afterTenant: lastTenant, limits: ctx.slotLimits };
      const taken = await takeQueued(ctx.db, ctx.processId(), ctx.clock.now(), line);
      for (const invocation of taken)
        void ctx.runner.track(invocation, (signal) => runInvocation(ctx, invocation, signal));
      // The tenants before the last one have not been read: what is queued there would wait for the next second.
      if (taken.length < room && lastTenant !== '') isAskedAgain = true;
      lastTenant = taken.length < room ? '' : (taken.map(tenantOf).sort().at(-1) ?? '');
      const tenants = taken.length < room ? await queuedTenants(ctx.db, MAX_TENANTS) : null;
      isCrowded = tenants === null || tenants.length === MAX_TENANTS;
      held = new Set(tenants);
    } finally {
      giveBack();
    }
  }

  async function pump(): Promise<void> {
    try {
      do {
        isAskedAgain = false;
        await pumpOnce();
      } while (isAskedAgain);
    } finally {
      // At once with the last look at `isAskedAgain`: nobody asks in between.
      pumping = null;
    }
  }

  function pumpOn(): Promise<void> {
    isAskedAgain = pumping !== null;
    pumping ??= pump();
    return pumping;
  }

  return {
    isWaiting: () => isCrowded || held.size > 0,
    reserve(calls) {
      if (isCrowded) return noSlots(calls);
      return calls.some((call) => held.has(tenantOf(call))) ? noSlots(calls) : ctx.runner.reserve(calls, 'back');
    },
    join: lines.join,
    add(tenant) {
      held.add(tenant);
      pumpOn().catch((error) => ctx.log.error({ err: error }, 'dequeuing requests failed'));
    },
    pump() {
      ctx.runner.admit();
      return pumpOn();
    },
  };
}

export const callOf = (caller: KnownCaller, agentId: string): Call => ({
  accountId: caller.accountId,
  callerAgentId: caller.kind === 'agent' ? caller.agentId : null,
  agentId,
});

const tenantOfCaller = (caller: KnownCaller) => tenantOf(callOf(caller, ''));

/**
 * Throws RATE_LIMITED, before any charge, unless `count` more requests of the caller may be queued and are expected to run before their
 * deadline. Call the result once they are stored or abandoned.
 */
export async function requireLine(
  ctx: CallServices & { readonly backlog: Backlog },
  caller: KnownCaller,
  entry: Omit<LineEntry, 'tenant'>,
): Promise<() => void> {
  if (entry.count === 0) return () => undefined;
  const joined = await ctx.backlog.join({ ...entry, tenant: tenantOfCaller(caller) });
  if (joined.kind === 'in') return joined.leave;
  if (joined.kind === 'full') throw tooManyWaiting(ctx.slotLimits.maxWaiting);
  throw tooSlow(ctx.slotLimits.maxWaiting, joined.expectedMs);
}

/**
 * Throws when too many calls of the caller wait. For calls paid on chain, which take their slot after payment; it counts the waiting ones
 * of this process.
 */
export function requireRoomToPay(ctx: CallServices, caller: KnownCaller): void {
  const { maxWaiting } = ctx.slotLimits;
  if (ctx.runner.waitingOf(tenantOfCaller(caller)) >= maxWaiting) throw tooManyWaiting(maxWaiting);
}

const RETRY_AFTER_S = 10;

const tooSlow = (limit: number, expectedMs: number) =>
  new AppError(
    'RATE_LIMITED',
    `The queue is about ${Math.ceil(expectedMs / 1000)} s long, which is past the request's deadline. Nothing was charged. Try again later, or with a later deadline.`,
    { details: { limit, type: 'waiting', retryAfterS: RETRY_AFTER_S } },
  );

const tooManyWaiting = (limit: number) =>
  new AppError('RATE_LIMITED', `${limit} requests wait for a slot already; nothing was charged. Try again later.`, {
    details: { limit, type: 'waiting', retryAfterS: RETRY_AFTER_S },
  });

/** Requests of a tenant that are about to be queued. */
interface LineEntry extends LineOf, Pick<Invocation, 'deadline'> {
  readonly count: number;
}

/** Call `leave` once the requests are stored or abandoned. */
type Joined =
  | { readonly kind: 'in'; readonly leave: () => void }
  | { readonly kind: 'full' }
  | { readonly kind: 'too_slow'; readonly expectedMs: number };

/** The lines of tenants: who may be queued. */
interface Lines {
  /**
   * Reserves queue entries. `full`: the tenant would exceed its limit, with entries of other processes counted, but not their reservations.
   * `too_slow`: in the line of this priority for these agents, the new ones have to expect a wait that is longer than they have until their
   * deadline.
   */
  join(entry: LineEntry): Promise<Joined>;
}

/** An expected wait is a guess, and a call takes time after it. */
const SAFETY = 1.25;

function createLines(ctx: Pick<RunContext, 'db' | 'clock'> & Pick<CallServices, 'slotLimits'>): Lines {
  const joining = new Map<string, number>();
  const speeds = createLineSpeeds();
  return {
    async join(entry) {
      const { tenant, count } = entry;
      const joined = (joining.get(tenant) ?? 0) + count;
      joining.set(tenant, joined);
      const leave = () => {
        const left = (joining.get(tenant) ?? 0) - count;
        if (left > 0) joining.set(tenant, left);
        else joining.delete(tenant);
      };
      let answer: Joined = { kind: 'full' };
      try {
        answer = await judge(ctx, entry, { speeds, joined, leave });
      } finally {
        if (answer.kind !== 'in') leave();
      }
      return answer;
    },
  };
}

/**
 * Decides if a call may join the queue. A reservation counts twice for a moment while its request is stored, which may refuse too many
 * calls, never too few.
 */
async function judge(
  ctx: Pick<RunContext, 'db' | 'clock'> & Pick<CallServices, 'slotLimits'>,
  entry: LineEntry,
  { speeds, joined, leave }: { speeds: LineSpeeds; joined: number; leave: () => void },
): Promise<Joined> {
  const { maxWaiting } = ctx.slotLimits;
  if (joined > maxWaiting) return { kind: 'full' };
  const { count, firstSince } = await readLine(ctx.db, entry, maxWaiting);
  if (joined + count > maxWaiting) return { kind: 'full' };
  const nowMs = ctx.clock.now().getTime();
  const line = `${entry.tenant} ${entry.priority} ${entry.agentIds.join()}`;
  const expectedMs = firstSince ? speeds.expectedMs(line, firstSince.getTime(), nowMs) : 0;
  const leftMs = entry.deadline.getTime() - nowMs;
  return expectedMs * SAFETY > leftMs ? { kind: 'too_slow', expectedMs } : { kind: 'in', leave };
}

/** Time at which the first request of a queue began to wait, as observed at another time. */
interface Seen {
  readonly atMs: number;
  readonly firstMs: number;
}

interface LineSpeeds {
  /** Expected wait of a new request in a queue, by the wait of its first request and the recent speed of the queue. */
  expectedMs(line: string, firstMs: number, nowMs: number): number;
}

const MAX_LINES = 10_000;
const FORGET_MS = 60_000;
/** A line is compared with itself as of one to two of these ago. */
const WINDOW_MS = 1000;
/** Less says nothing: requests are taken in batches. */
const MIN_MS = 250;

/**
 * In a queue that is served as fast as it is joined, a new request waits as long as the first one has waited. If the queue grows, its first
 * request is older each time: half a second older after a second, say, doubles the expected wait. An unchanged first request proves nothing
 * about the others, as its agent may be slow. It is computed from the stored queue, so it holds for all processes that serve it.
 */
export function createLineSpeeds(): LineSpeeds {
  const known = createBoundedCache<{ older: Seen; newer: Seen }>(MAX_LINES, FORGET_MS);
  return {
    expectedMs(line, firstMs, nowMs) {
      const waitedMs = Math.max(0, nowMs - firstMs);
      const now = { atMs: nowMs, firstMs };
      const seen = known.get(line) ?? { older: now, newer: now };
      const older = nowMs - seen.newer.atMs >= WINDOW_MS ? seen.newer : seen.older;
      if (older !== seen.older || older === now) known.set(line, { older, newer: now });
      const [overMs, movedMs] = [nowMs - older.atMs, firstMs - older.firstMs];
      if (overMs < MIN_MS || movedMs <= 0) return waitedMs;
      return waitedMs * Math.max(1, overMs / movedMs);
    },
  };
}
