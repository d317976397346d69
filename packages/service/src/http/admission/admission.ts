import type { HasDb } from '../../db/database.ts';
import { asRead } from '../../db/read-reserve.ts';
import type { HasFinisher } from '../../invocations/finish/end-invocations.ts';
import type { HasAcceptor } from '../../invocations/start/accept-invocations.ts';
import type { RequestListener } from '../request/in-turn.ts';
import { createCallTimes } from './call-times.ts';
import type { Held } from './held-request.ts';
import { kindOf } from './request-kind.ts';
import { MAX_PER_TURN, nextPace, TURN_MS } from './start-pace.ts';
import { createStartRate } from './start-rate.ts';
import { createStartedBefore } from './started-before.ts';
import { createTurnMeter, type TurnMeter } from './turn-meter.ts';
import { createWaitingRoom, MAX_AT_ONCE, type WaitingContext } from './waiting-room.ts';

export interface AdmissionContext extends HasDb, HasAcceptor, HasFinisher, WaitingContext {}

/** Wait of earlier work for the database, above which nothing is started; and for a connection, above which newcomers are refused (`requireRoom`). */
const DATABASE_WAIT_MS = 50;
const DATABASE_SHED_MS = 1500;
/** Time between two looks whether the database has room. */
const LOOK_AGAIN_MS = 5;

/**
 * Starts requests that write as fast as the process and its database keep up, so that what was started ends soon and reads, which are
 * always started at once and have connections of their own, stay quick. The others wait in a line in which accounts take turns, and are
 * refused when that takes too long. A request that waits has been parsed as HTTP and nothing else: refusing it costs little, and nothing
 * was done.
 */
export function createAdmission(ctx: AdmissionContext, meter: TurnMeter = createTurnMeter()) {
  const starts = { rate: createStartRate(), before: createStartedBefore(), times: createCallTimes() };
  const room = createWaitingRoom(ctx, starts);
  /** Requests that came in this turn of the event loop and were not started. */
  const held: Held[] = [];
  let pace = MAX_PER_TURN;
  let started = 0;
  let turnBeganMs = 0;
  let isTurnWatched = false;

  const hasDatabaseRoom = () =>
    Math.max(ctx.db.queueAgeMs(), ctx.acceptor.waitingMs(), ctx.finisher.waitingMs()) < DATABASE_WAIT_MS;
  /** A started request counts by its own first steps, too: many that come at once are more than a turn. */
  const mayStart = (nowMs: number) =>
    (started === 0 || (started < Math.floor(pace) && nowMs - turnBeganMs < TURN_MS)) && hasDatabaseRoom();

  function start(listener: RequestListener, { incoming, outgoing, sinceMs, kind }: Held): void {
    const nowMs = performance.now();
    started += 1;
    starts.rate.count(nowMs);
    starts.before.note(incoming);
    ctx.metrics.queueTime.observe((nowMs - sinceMs) / 1000);
    if (kind === 'invocation')
      outgoing.once('finish', () => {
        const endMs = performance.now();
        if (outgoing.statusCode === 200) starts.times.note(incoming.url, endMs - nowMs, endMs);
      });
    listener(incoming, outgoing);
  }

  function endTurn(listener: RequestListener): void {
    isTurnWatched = false;
    pace = nextPace(pace, { ...meter.read(), started });
    started = 0;
    const nowMs = performance.now();
    room.enter(held.splice(0, MAX_AT_ONCE), nowMs);
    turnBeganMs = nowMs;
    while (mayStart(performance.now())) {
      const next = room.next(nowMs);
      if (!next) break;
      start(listener, next);
    }
    room.expire(nowMs);
    if (room.size > 0 || held.length > 0) watchTurn(listener);
  }

  function watchTurn(listener: RequestListener): void {
    if (isTurnWatched) return;
    isTurnWatched = true;
    if (held.length >= MAX_AT_ONCE || hasDatabaseRoom()) setImmediate(() => endTurn(listener));
    else setTimeout(() => endTurn(listener), LOOK_AGAIN_MS);
  }

  return (listener: RequestListener): RequestListener =>
    (incoming, outgoing) => {
      const kind = kindOf(incoming.method, incoming.url);
      if (kind === 'free') return asRead(() => listener(incoming, outgoing));
      // With a database that is so far behind, `requireRoom` refuses.
      if (ctx.db.queueAgeMs() >= DATABASE_SHED_MS) return listener(incoming, outgoing);
      const request = { incoming, outgoing, sinceMs: performance.now(), kind };
      if (!isTurnWatched) turnBeganMs = request.sinceMs;
      watchTurn(listener);
      if (room.size === 0 && held.length === 0 && mayStart(request.sinceMs)) start(listener, request);
      else held.push(request);
    };
}
