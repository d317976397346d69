import type { HasClock } from '../../lib/clock.ts';
import { createFairLine } from '../../lib/concurrency/fair-line.ts';
import type { HasMetrics } from '../../lib/metrics.ts';
import { type CallerNames, type Held, incomingOf, placed, type Waiting } from './held-request.ts';
import { refusal } from './refusal.ts';
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

/** What is known of requests that were started. */
export interface Starts {
  readonly rate: StartRate;
  readonly before: StartedBefore;
}

/** Requests that wait to be started. Each leaves it by `next`, or is refused. */
export interface WaitingRoom {
  readonly size: number;
  /** Lines requests up, or refuses them: all bytes of a small body should be there. */
  enter(held: readonly Held[], nowMs: number): void;
  /** Whose turn it is; null: nobody waits. */
  next(): Waiting | null;
  /** Refuses those that waited too long. */
  expire(nowMs: number): void;
}

const EXPIRE_EVERY_MS = 50;

export function createWaitingRoom(ctx: WaitingContext, { rate, before }: Starts): WaitingRoom {
  const { maxQueueMs, maxQueued } = ctx.admissionLimits;
  const line = createFairLine<Waiting>(ranks.length);
  let expiredMs = 0;

  function shed({ place, resolve, env }: Waiting, reason: ShedReason): void {
    ctx.metrics.requestsShed.inc({ reason, priority: ranks[place.rank] ?? 'write' });
    resolve(refusal(reason, incomingOf(env).headers['x-request-id']));
  }

  const untilDeadlineMs = ({ deadlineMs }: Waiting) =>
    deadlineMs === null ? null : deadlineMs - ctx.clock.now().getTime();

  function judge(waiting: Waiting, nowMs: number, expectedMs: number | null) {
    const standingMs = line.standingMs(waiting.place, nowMs);
    const waitedMs = nowMs - waiting.sinceMs;
    const { isRepeated } = waiting;
    return whyShed(maxQueueMs, {
      ...{ waitedMs, expectedMs, standingMs, isRepeated },
      untilDeadlineMs: untilDeadlineMs(waiting),
    });
  }

  function enterOne(waiting: Waiting, nowMs: number): void {
    const perMs = rate.perMs();
    const reason = judge(waiting, nowMs, perMs > 0 ? line.ahead(waiting.place) / perMs : null);
    const displaced = !reason && line.size >= maxQueued ? line.makeRoom(waiting.place) : null;
    if (displaced) shed(displaced, 'full');
    if (reason) shed(waiting, reason);
    else if (line.size >= maxQueued) shed(waiting, 'full');
    else line.add(waiting, waiting.place, nowMs);
  }

  return {
    get size() {
      return line.size;
    },
    enter(held, nowMs) {
      for (const each of held) enterOne(placed(ctx, before, each), nowMs);
    },
    next() {
      for (let waiting = line.take(); waiting; waiting = line.take()) {
        // Whoever hung up needs no answer.
        if (incomingOf(waiting.env).socket.destroyed) waiting.resolve(new Response(null, { status: 503 }));
        else if ((untilDeadlineMs(waiting) ?? 1) <= 0) shed(waiting, 'deadline');
        else return waiting;
      }
      return null;
    },
    expire(nowMs) {
      if (nowMs - expiredMs < EXPIRE_EVERY_MS) return;
      expiredMs = nowMs;
      const reasons = new Map<Waiting, ShedReason>();
      const isOver = (waiting: Waiting) => {
        const reason = judge(waiting, nowMs, null);
        if (reason) reasons.set(waiting, reason);
        return reason !== null;
      };
      for (const waiting of line.expire(isOver)) shed(waiting, reasons.get(waiting) ?? 'queue_time');
    },
  };
}
