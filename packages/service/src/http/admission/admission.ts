import type { HasDb } from '../../db/database.ts';
import { asRead } from '../../db/read-reserve.ts';
import type { HasFinisher } from '../../invocations/finish/end-invocations.ts';
import type { HasAcceptor } from '../../invocations/start/accept-invocations.ts';
import { type Env, type Fetch, type Held, incomingOf } from './held-request.ts';
import { kindOf } from './request-kind.ts';
import { MOST_PER_TURN, nextPace, TURN_MS } from './start-pace.ts';
import { createStartRate } from './start-rate.ts';
import { createStartedBefore } from './started-before.ts';
import { createTurnMeter, type TurnMeter } from './turn-meter.ts';
import { createWaitingRoom, type WaitingContext } from './waiting-room.ts';

export interface AdmissionContext extends HasDb, HasAcceptor, HasFinisher, WaitingContext {}

/** Wait of earlier work for the database, above which nothing is started; and for a connection, above which newcomers are refused (`requireRoom`). */
const DATABASE_WAIT_MS = 50;
const DATABASE_SHED_MS = 1500;
/** Time between two looks whether the database has room. */
const LOOK_AGAIN_MS = 5;

/**
 * Starts requests that write as fast as the process and its database keep up, so that what was started ends soon and reads, which are always
 * started at once and have connections of their own, stay quick. The others wait in a line in which accounts take turns, and are refused when that takes too long. A
 * request that waits has been parsed as HTTP and nothing else: refusing it costs little, and nothing was done.
 */
export function createAdmission(ctx: AdmissionContext, meter: TurnMeter = createTurnMeter()) {
  const starts = { rate: createStartRate(), before: createStartedBefore() };
  const room = createWaitingRoom(ctx, starts);
  /** What came in this turn of the event loop and was not started. */
  let held: Held[] = [];
  let pace = MOST_PER_TURN;
  let started = 0;
  let turnBeganMs = 0;
  let isTurnWatched = false;

  const hasDatabaseRoom = () =>
    Math.max(ctx.db.queueAgeMs(), ctx.acceptor.waitingMs(), ctx.finisher.waitingMs()) < DATABASE_WAIT_MS;
  /** What was started counts by its own first steps, too: many that come at once are more than a turn. */
  const mayStart = (nowMs: number) =>
    (started === 0 || (started < Math.floor(pace) && nowMs - turnBeganMs < TURN_MS)) && hasDatabaseRoom();

  /** Asynchronous: whatever a handler throws is its own request's failure, as nobody above `endTurn` would catch it. */
  async function start(handle: Fetch, request: Request, env: Env, sinceMs: number): Promise<Response> {
    const nowMs = performance.now();
    started += 1;
    starts.rate.count(nowMs);
    starts.before.note(incomingOf(env));
    ctx.metrics.queueTime.observe((nowMs - sinceMs) / 1000);
    return handle(request, env);
  }

  function endTurn(handle: Fetch): void {
    isTurnWatched = false;
    pace = nextPace(pace, { ...meter.read(), started });
    started = 0;
    const nowMs = performance.now();
    const entering = held;
    held = [];
    room.enter(entering, nowMs);
    turnBeganMs = nowMs;
    while (mayStart(performance.now())) {
      const next = room.next();
      if (!next) break;
      const { request, env, sinceMs, resolve } = next;
      resolve(start(handle, request, env, sinceMs));
    }
    room.expire(nowMs);
    if (room.size > 0) watchTurn(handle);
  }

  function watchTurn(handle: Fetch): void {
    if (isTurnWatched) return;
    isTurnWatched = true;
    if (hasDatabaseRoom()) setImmediate(() => endTurn(handle));
    else setTimeout(() => endTurn(handle), LOOK_AGAIN_MS);
  }

  return (handle: Fetch): Fetch =>
    (request, env) => {
      const { method, url } = incomingOf(env);
      const kind = kindOf(method, url);
      if (kind === 'free') return asRead(() => handle(request, env));
      // With a database that is so far behind, `requireRoom` refuses.
      if (ctx.db.queueAgeMs() >= DATABASE_SHED_MS) return handle(request, env);
      const sinceMs = performance.now();
      if (!isTurnWatched) turnBeganMs = sinceMs;
      watchTurn(handle);
      if (room.size === 0 && held.length === 0 && mayStart(sinceMs)) return start(handle, request, env, sinceMs);
      return new Promise((resolve) => held.push({ request, env, resolve, sinceMs, kind }));
    };
}
