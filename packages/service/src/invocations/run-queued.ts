import type { HasProcessId } from '../queue/heartbeat.ts';
import { takeQueued } from './invocation-store.ts';
import { type HasRunner, type RunContext, runInvocation } from './runner.ts';

/** Requests that wait because every process was busy. */
export interface Backlog {
  /** Whether somebody waits, as far as this process knows: then a newcomer that nobody waits for stands in line. */
  isWaiting(): boolean;
  /** Notes that a request was put in line. */
  add(): void;
  /** Takes as many as there is room for. */
  pump(): Promise<void>;
}

export interface HasBacklog {
  readonly backlog: Backlog;
}

/** Takes requests out of the line in the order of their priority, whenever there is room. */
export function createBacklog(ctx: RunContext & HasRunner & HasProcessId): Backlog {
  let isWaiting = false;
  let pumping: Promise<void> | null = null;
  let isAskedAgain = false;

  async function pumpOnce(): Promise<void> {
    const room = ctx.runner.room();
    if (room === 0) return;
    const taken = await takeQueued(ctx.db, ctx.processId(), ctx.clock.now(), room);
    isWaiting = taken.length === room;
    for (const invocation of taken)
      void ctx.runner.track(invocation.id, (signal) => runInvocation(ctx, invocation, signal));
  }

  async function pump(): Promise<void> {
    do {
      isAskedAgain = false;
      await pumpOnce();
    } while (isAskedAgain);
  }

  return {
    isWaiting: () => isWaiting,
    add() {
      isWaiting = true;
    },
    pump() {
      isAskedAgain = pumping !== null;
      pumping ??= pump().finally(() => {
        pumping = null;
      });
      return pumping;
    },
  };
}
