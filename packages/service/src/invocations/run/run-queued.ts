import type { HasDrain } from '../../queue/drain.ts';
import type { HasProcessId } from '../../queue/heartbeat.ts';
import { type Call, type HasPlaceLimits, laneOf } from '../places/places.ts';
import type { HasRunner, Reservation } from '../places/runner.ts';
import { createLines, type Lines } from './line.ts';
import { hasQueued, queuedLanes, takeQueued } from './queue-store.ts';
import { type RunContext, runInvocation } from './run-invocation.ts';

/** The queue of requests that found no place. */
export interface Backlog extends Lines {
  /** True when requests are queued, as far as this process knows. */
  isWaiting(): boolean;
  /**
   * Reserves places at the back for new calls; none for lanes that have queued requests, nor while the queue waits for any place at all.
   */
  reserve(calls: readonly Call[]): Reservation;
  /** Records that requests of a lane were queued, and dequeues as many as there is room for. */
  add(lane: string): void;
  /** Dequeues as many requests as there is room for. */
  pump(): Promise<void>;
}

export interface HasBacklog {
  readonly backlog: Backlog;
}

const noPlaces = (calls: readonly Call[]): Reservation => ({
  granted: calls.map(() => false),
  giveBack: () => undefined,
});

/** Batch size of dequeuing: its reservation is briefly not available to new calls. */
const MAX_TAKEN = 100;

/** Maximum lanes known by name to have queued requests; beyond it, all new calls are queued. */
const MAX_LANES = 1000;

/**
 * Dequeues requests whenever there is room: lanes in turn, the one with the fewest places first, and within a lane by priority. A lane or
 * an agent at its share blocks no other. A process that drains leaves the queue to the others.
 */
export function createBacklog(ctx: RunContext & HasRunner & HasProcessId & HasPlaceLimits & HasDrain): Backlog {
  /** A queued request may be waiting for room alone, not for a share. */
  let isCrowded = false;
  /** Lanes with queued requests, as far as known: they, or the agents that they call, may be at their share. */
  let held = new Set<string>();
  let lastLane = '';
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
      const line = { room, load, afterLane: lastLane, limits: ctx.placeLimits };
      const taken = await takeQueued(ctx.db, ctx.processId(), ctx.clock.now(), line);
      for (const invocation of taken)
        void ctx.runner.track(invocation, (signal) => runInvocation(ctx, invocation, signal));
      // The lanes before the last one have not been read: what is queued there would wait for the next second.
      if (taken.length < room && lastLane !== '') isAskedAgain = true;
      lastLane = taken.length < room ? '' : (taken.map(laneOf).sort().at(-1) ?? '');
      const lanes = taken.length < room ? await queuedLanes(ctx.db, MAX_LANES) : null;
      isCrowded = lanes === null || lanes.length === MAX_LANES;
      held = new Set(lanes);
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
      if (isCrowded) return noPlaces(calls);
      return calls.some((call) => held.has(laneOf(call))) ? noPlaces(calls) : ctx.runner.reserve(calls, 'back');
    },
    join: lines.join,
    add(lane) {
      held.add(lane);
      pumpOn().catch((error) => ctx.log.error({ err: error }, 'dequeuing requests failed'));
    },
    pump() {
      ctx.runner.letIn();
      return pumpOn();
    },
  };
}
