import { AppError } from '../../lib/app-error.ts';
import { createFairQueue } from '../../lib/concurrency/fair-queue.ts';
import { newId } from '../../lib/id.ts';
import type { Telemetry } from '../../lib/telemetry/telemetry.ts';
import { STALLED_MS } from '../answer/answer-watch.ts';
import { commonHeaders } from '../answer/common-headers.ts';
import { retryAfterOf, toErrorAnswer } from '../answer/errors.ts';
import type { CallTimes } from './call-times.ts';
import { type CallerNames, type Held, type StartedBefore, type Waiting, withTicket } from './held-request.ts';
import { ranks } from './request-kind.ts';
import type { StartRate } from './start-rate.ts';

export interface AdmissionLimits {
  /** Maximum time that a request waits to be started in an overload that lasts; a burst may wait for five times as long. */
  readonly maxQueueMs: number;
  /** Maximum requests that wait to be started. */
  readonly maxQueued: number;
}

export interface WaitingContext extends CallerNames, Telemetry {
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

const messages: Readonly<Record<ShedReason, string>> = {
  queue_time: 'The node is overloaded, and the request would wait too long.',
  full: 'The node is overloaded, and too many requests wait.',
  deadline: 'The node is overloaded, and the deadline is before the turn of the request.',
};

/** Time to wait for the rest of an unread body before closing the connection. */
const REST_OF_BODY_MS = 500;

/** All ASCII. */
interface Prepared {
  readonly beforeId: string;
  readonly afterId: string;
}

const headers = Object.entries({ ...commonHeaders, 'content-type': 'application/json' }).flat();
const prepared = Object.fromEntries(
  Object.entries(messages).map(([reason, message]) => [reason, prepare(message)]),
) as Record<ShedReason, Prepared>;

function prepare(message: string): Prepared {
  const error = new AppError('UNAVAILABLE', `${message} Nothing was done; repeat the request later.`, {
    details: { outcome: 'nothing' },
  });
  const mark = '<id>';
  const [beforeId = '', afterId = ''] = JSON.stringify(toErrorAnswer(error, mark).body).split(mark);
  return { beforeId, afterId };
}

/**
 * Answers a request that was not begun: 503, `outcome: nothing`, and a `Retry-After` that differs from caller to caller. An overloaded
 * node does this more often than all else, so the text is ready, and nothing but Node's own server has seen the request.
 */
function refuse({ incoming, outgoing }: Pick<Held, 'incoming' | 'outgoing'>, reason: ShedReason): void {
  const givenId = incoming.headers['x-request-id'];
  const requestId = typeof givenId === 'string' && /^[\w-]{8,128}$/.test(givenId) ? givenId : newId('req');
  const { beforeId, afterId } = prepared[reason];
  const body = beforeId + requestId + afterId;
  const ofThis = ['x-request-id', requestId, 'retry-after', retryAfterOf('UNAVAILABLE') ?? '5'];
  outgoing.writeHead(503, [...headers, ...ofThis, 'content-length', String(body.length)]);
  outgoing.end(body, 'latin1');
  const { socket } = incoming;
  if (!outgoing.writableFinished) socket.setTimeout(STALLED_MS);
  if (!incoming.complete) setTimeout(() => incoming.complete || socket.destroy(), REST_OF_BODY_MS).unref();
}

/** Multiple of the overload wait that a burst may take, and the age at which a line is no burst. */
const BURST = 5;
const STANDS_AFTER = 2.5;

/**
 * Time that a request may wait to start, by the time since its tenant last had none waiting. A burst is waited out; in a standing queue,
 * waiting only makes all requests late (controlled delay: Nichols and Jacobson; for servers: Maurer, "Fail at Scale").
 */
const waitLimitMs = (maxQueueMs: number, standingMs: number): number =>
  isStanding(maxQueueMs, standingMs) ? maxQueueMs : BURST * maxQueueMs;

const isStanding = (maxQueueMs: number, standingMs: number): boolean => standingMs > STANDS_AFTER * maxQueueMs;

/** A request that waits, or is about to. */
interface Waiter {
  /** Time that it has waited, and the expected rest of its wait by the recent rate; null: not known yet. */
  readonly waitedMs: number;
  readonly expectedMs: number | null;
  readonly standingMs: number;
  /** Time until its own deadline; null: it names none. */
  readonly untilDeadlineMs: number | null;
  /** True for a repetition of a started request: its first run may have been paid. */
  readonly isRepeated: boolean;
  /** Expected duration once it is started, as such calls took recently; 0: not known. */
  readonly takesMs: number;
}

/** Half of the calls take longer than the average one. */
const SAFETY = 1.5;
/** Wait below which a node counts as keeping up, so that a burst of calls is not shed for its expected duration. */
const MOMENT_MS = 250;

type ShedReason = 'queue_time' | 'full' | 'deadline';

/**
 * The reason for which a request is not to wait any longer; null: it waits. Expected times count in standing lines only: before, they are
 * guesses.
 */
export function whyShed(maxQueueMs: number, waiter: Waiter): 'queue_time' | 'deadline' | null {
  const { waitedMs, standingMs, untilDeadlineMs, isRepeated, takesMs } = waiter;
  const expectedMs = isStanding(maxQueueMs, standingMs) && !isRepeated ? (waiter.expectedMs ?? 0) : 0;
  const runMs = standingMs > MOMENT_MS ? SAFETY * takesMs : 0;
  // A repetition asks for a result, which may be there.
  if (untilDeadlineMs !== null && !isRepeated && untilDeadlineMs <= expectedMs + runMs) return 'deadline';
  const limitMs = waitLimitMs(maxQueueMs, isRepeated ? 0 : standingMs);
  return waitedMs > limitMs || waitedMs + expectedMs > limitMs ? 'queue_time' : null;
}
