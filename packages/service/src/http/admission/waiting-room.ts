import type { HasClock } from '../../lib/clock.ts';
import { createFairQueue } from '../../lib/concurrency/fair-queue.ts';
import type { HasMetrics } from '../../lib/metrics.ts';
import type { CallTimes } from './call-times.ts';
import { type CallerNames, type Held, type Waiting, withTicket } from './held-request.ts';
import { refuse } from './refusal.ts';
import { ranks } from './request-kind.ts';
import type { StartRate } from './start-rate.ts';
import type { StartedBefore } from './started-before.ts';
import { type ShedReason, whyShed } from './wait-limit.ts';

export interface AdmissionLimits {
  /** Maximum time that a request waits to be started in an overload that lasts; a burst may wait for five times as long. */
  readonly maxQueueMs: number;
  /** Maximum requests that wait to be started. */
  readonly maxQueued: number;
}

export interface WaitingContext extends CallerNames, HasClock, HasMetrics {
  readonly admissionLimits: AdmissionLimits;
}

/** Facts known of started requests. */
export interface Starts {
  readonly rate: StartRate;
  readonly before: StartedBefore;
  readonly times: CallTimes;
}

/** Requests that wait to be started. Each leaves it by `next`, or is refused. */
export interface WaitingRoom {
  readonly size: number;
  /** Lines requests up, or refuses them: all bytes of a small body should be there. */
  enter(held: readonly Held[], nowMs: number): void;
  /** The next request; null: none waits. */
  next(nowMs: number): Waiting | null;
  /** Refuses those that waited too long. */
  expire(nowMs: number): void;
}

const EXPIRE_EVERY_MS = 50;
/** Requests that one turn lines up or refuses: some milliseconds of work. */
export const MAX_AT_ONCE = 100;

export function createWaitingRoom(ctx: WaitingContext, { rate, before, times }: Starts): WaitingRoom {
  const { maxQueueMs, maxQueued } = ctx.admissionLimits;
  const queue = createFairQueue<Waiting>(ranks.length);
  let expiredMs = 0;

  function shed(waiting: Waiting, reason: ShedReason): void {
    ctx.metrics.requestsShed.inc({ reason, priority: ranks[waiting.ticket.priority] ?? 'write' });
    refuse(waiting, reason);
  }

  const untilDeadlineMs = ({ deadlineMs }: Waiting) =>
    deadlineMs === null ? null : deadlineMs - ctx.clock.now().getTime();

  function judge(waiting: Waiting, nowMs: number, expectedMs: number | null) {
    const standingMs = queue.backlogMs(waiting.ticket, nowMs);
    const waitedMs = nowMs - waiting.sinceMs;
    const { isRepeated, deadlineMs } = waiting;
    return whyShed(maxQueueMs, {
      ...{ waitedMs, expectedMs, standingMs, isRepeated },
      untilDeadlineMs: untilDeadlineMs(waiting),
      takesMs: deadlineMs === null ? 0 : times.expectedMs(waiting.incoming.url, nowMs),
    });
  }

  function enterOne(waiting: Waiting, nowMs: number): void {
    const perMs = rate.perMs();
    const reason = judge(waiting, nowMs, perMs > 0 ? queue.countAhead(waiting.ticket) / perMs : null);
    const displaced = !reason && queue.size >= maxQueued ? queue.evictFor(waiting.ticket) : null;
    if (displaced) shed(displaced, 'full');
    if (reason) shed(waiting, reason);
    else if (queue.size >= maxQueued) shed(waiting, 'full');
    else queue.add(waiting, waiting.ticket, nowMs);
  }

  return {
    get size() {
      return queue.size;
    },
    enter(held, nowMs) {
      for (const each of held) enterOne(withTicket(ctx, before, each), nowMs);
    },
    next(nowMs) {
      for (let waiting = queue.take(); waiting; waiting = queue.take()) {
        // A client that hung up needs no answer.
        if (waiting.incoming.socket.destroyed) continue;
        if (waiting.deadlineMs === null || judge(waiting, nowMs, null) !== 'deadline') return waiting;
        shed(waiting, 'deadline');
      }
      return null;
    },
    expire(nowMs) {
      if (nowMs - expiredMs < EXPIRE_EVERY_MS) return;
      expiredMs = nowMs;
      const reasons = new Map<Waiting, ShedReason>();
      const isOver = (waiting: Waiting) => {
        if (reasons.size >= MAX_AT_ONCE) {
          // The next turn goes on: reads have theirs in between.
          expiredMs = 0;
          return false;
        }
        const reason = judge(waiting, nowMs, null);
        if (reason) reasons.set(waiting, reason);
        return reason !== null;
      };
      for (const waiting of queue.removeExpired(isOver)) shed(waiting, reasons.get(waiting) ?? 'queue_time');
    },
  };
}
