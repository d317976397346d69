import type { HasProcessId } from '../../queue/heartbeat.ts';
import { type Call, type HasPlaceLimits, laneOf } from '../places/places.ts';
import type { HasRunner, Reservation } from '../places/runner.ts';
import { countQueued, hasQueued, queuedLanes, takeQueued } from './queue-store.ts';
import { type RunContext, runInvocation } from './run-invocation.ts';

/** Requests that wait because every process was busy. */
export interface Backlog {
  /** Whether somebody waits, as far as this process knows. */
  isWaiting(): boolean;
  /** Keeps places at the back for newcomers; none for those whose lane stands in line, nor while the line waits for any place at all. */
  reserve(calls: readonly Call[]): Reservation;
  /**
   * Keeps room in line for `count` requests of a lane, until what it answers is called. Null when the lane would have more waiting
   * than it may, counting what other processes have in line, but not what they are about to put there.
   */
  join(lane: string, count: number): Promise<(() => void) | null>;
  /** Notes that requests of a lane were put in line, and takes as many as there is room for. */
  add(lane: string): void;
  /** Takes as many as there is room for. */
  pump(): Promise<void>;
}

export interface HasBacklog {
  readonly backlog: Backlog;
}

const noPlaces = (calls: readonly Call[]): Reservation => ({
  granted: calls.map(() => false),
  giveBack: () => undefined,
});

/** What is taken at once: the room that this keeps for a moment is none for newcomers. */
const MAX_TAKEN = 100;

/** How many lanes are known by name to stand in line; with more than that, all newcomers join it. */
const MAX_LANES = 1000;

/**
 * Takes requests out of the line whenever there is room: lanes in turn, the one with the fewest places first, and the requests of a
 * lane in the order of their priority. A lane or an agent that has its share holds up nobody else.
 */
export function createBacklog(ctx: RunContext & HasRunner & HasProcessId & HasPlaceLimits): Backlog {
  /** Somebody may stand in line who would be taken if there were room. */
  let isCrowded = false;
  /** Lanes that stand in line, as far as is known: they, or the agents that they call, may have their share. */
  let held = new Set<string>();
  let lastLane = '';
  /** Requests of lanes that are about to be put in line. */
  const joining = new Map<string, number>();
  let pumping: Promise<void> | null = null;
  let isAskedAgain = false;

  async function pumpOnce(): Promise<void> {
    // Looked for first where none is known of: what is kept room for, newcomers can't have.
    if (!isCrowded && held.size === 0 && !(await hasQueued(ctx.db))) return;
    const { room, load, giveBack } = ctx.runner.reserveAny(MAX_TAKEN);
    isCrowded = room === 0;
    if (isCrowded) return;
    try {
      const line = { room, load, afterLane: lastLane, limits: ctx.placeLimits };
      const taken = await takeQueued(ctx.db, ctx.processId(), ctx.clock.now(), line);
      for (const invocation of taken)
        void ctx.runner.track(invocation, (signal) => runInvocation(ctx, invocation, signal));
      lastLane = taken.length < room ? '' : (taken.map(laneOf).sort().at(-1) ?? '');
      const lanes = taken.length < room ? await queuedLanes(ctx.db, MAX_LANES) : null;
      isCrowded = lanes === null || lanes.length === MAX_LANES;
      held = new Set(lanes);
    } finally {
      giveBack();
    }
  }

  async function pump(): Promise<void> {
    do {
      isAskedAgain = false;
      await pumpOnce();
    } while (isAskedAgain);
  }

  function pumpOn(): Promise<void> {
    isAskedAgain = pumping !== null;
    pumping ??= pump().finally(() => {
      pumping = null;
    });
    return pumping;
  }

  return {
    isWaiting: () => isCrowded || held.size > 0,
    reserve(calls) {
      if (isCrowded) return noPlaces(calls);
      return calls.some((call) => held.has(laneOf(call))) ? noPlaces(calls) : ctx.runner.reserve(calls, 'back');
    },
    async join(lane, count) {
      const joined = (joining.get(lane) ?? 0) + count;
      joining.set(lane, joined);
      const leave = () => {
        const left = (joining.get(lane) ?? 0) - count;
        if (left > 0) joining.set(lane, left);
        else joining.delete(lane);
      };
      const { mostWaiting } = ctx.placeLimits;
      // Who joined before and is stored meanwhile is counted twice for a moment: that refuses too many, never too few.
      let isIn = false;
      try {
        isIn = joined <= mostWaiting && joined + (await countQueued(ctx.db, lane, mostWaiting)) <= mostWaiting;
      } finally {
        if (!isIn) leave();
      }
      return isIn ? leave : null;
    },
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
