import type { HasProcessId } from '../queue/heartbeat.ts';
import { hasQueued, takeQueued } from './invocation-store.ts';
import { type HasRunner, type Reservation, type RunContext, runInvocation } from './runner.ts';

/** Requests that wait because every process was busy. */
export interface Backlog {
  /** Whether somebody waits, as far as this process knows. */
  isWaiting(): boolean;
  /** Keeps room for up to `most` newcomers that nobody waits for; none while others stand in line. */
  reserve(most: number): Reservation;
  /** Notes that requests were put in line, and takes as many as there is room for. */
  add(): void;
  /** Takes as many as there is room for. */
  pump(): Promise<void>;
}

export interface HasBacklog {
  readonly backlog: Backlog;
}

/** What is taken at once: the room that this keeps for a moment is none for newcomers. */
const MAX_TAKEN = 100;

/** Takes requests out of the line in the order of their priority, whenever there is room. */
export function createBacklog(ctx: RunContext & HasRunner & HasProcessId): Backlog {
  let isWaiting = false;
  let pumping: Promise<void> | null = null;
  let isAskedAgain = false;

  async function pumpOnce(): Promise<void> {
    // Looked for first where none is known of: what is kept room for, newcomers can't have.
    if (!isWaiting && !(await hasQueued(ctx.db))) return;
    const { room, giveBack } = ctx.runner.reserve(MAX_TAKEN);
    if (room === 0) return;
    try {
      const taken = await takeQueued(ctx.db, ctx.processId(), ctx.clock.now(), room);
      isWaiting = taken.length === room;
      for (const invocation of taken)
        void ctx.runner.track(invocation.id, (signal) => runInvocation(ctx, invocation, signal));
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
    isWaiting: () => isWaiting,
    reserve: (most) => ctx.runner.reserve(isWaiting ? 0 : most),
    add() {
      isWaiting = true;
      pumpOn().catch((error) => ctx.log.error({ err: error }, 'taking queued requests failed'));
    },
    pump: pumpOn,
  };
}
