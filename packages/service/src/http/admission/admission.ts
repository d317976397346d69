import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { CallServices } from '../../calls/call-services.ts';
import type { Acceptor } from '../../calls/start/accept-invocations.ts';
import { asRead } from '../../store/read-reserve.ts';
import { createCallTimes } from './call-times.ts';
import { createStartedBefore, type Held } from './held-request.ts';
import { kindOf } from './request-kind.ts';
import { createStartRate } from './start-rate.ts';
import { createWaitingRoom, MAX_AT_ONCE, type WaitingContext } from './waiting-room.ts';

export interface AdmissionContext extends CallServices, WaitingContext {
  readonly acceptor: Acceptor;
}

/** Wait of earlier work for the database, above which nothing is started; and for a connection, above which newcomers are refused (`requireRoom`). */
const DATABASE_WAIT_MS = 50;
const DATABASE_SHED_MS = 1500;
/** Time between two looks whether the database has room. */
const LOOK_AGAIN_MS = 5;

/**
 * Starts write requests as fast as the process and its database keep up, so that started ones end soon and reads, which start at once and
 * have connections of their own, stay quick. The others wait in a queue that is fair among accounts, and are refused if that takes too
 * long. A waiting request has only been parsed as HTTP, so refusing it is cheap and nothing was done.
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
    starts.before.record(incoming);
    ctx.metrics.queueTime.observe((nowMs - sinceMs) / 1000);
    if (kind === 'invocation')
      outgoing.once('finish', () => {
        const endMs = performance.now();
        if (outgoing.statusCode === 200) starts.times.record(incoming.url, endMs - nowMs, endMs);
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

/** The length of a turn of the event loop, as the mean of the turns since it was read last. Waiting for something to do is no part of it. */
interface TurnMeter {
  read(): TurnLength;
}

function createTurnMeter(): TurnMeter {
  let before = sample();
  return {
    read() {
      const now = sample();
      const turns = Math.max(1, now.loops - before.loops);
      const length = { wallMs: (now.wallMs - before.wallMs) / turns, cpuMs: (now.cpuMs - before.cpuMs) / turns };
      before = now;
      return length;
    },
  };
}

function sample() {
  const { user, system } = process.threadCpuUsage();
  return {
    cpuMs: (user + system) / 1000,
    wallMs: performance.eventLoopUtilization().active,
    loops: performance.nodeTiming.uvMetricsInfo.loopCount,
  };
}

/** A turn of the event loop, as measured: the time that it took, the processor time in it, and the requests that it started. */
interface Turn extends TurnLength {
  readonly started: number;
}

interface TurnLength {
  readonly wallMs: number;
  readonly cpuMs: number;
}

/**
 * Processor time of a turn up to which requests are started. A read waits for two or three turns, and a call that runs for a dozen: with turns
 * of 10 ms fewer calls ended in overload, as each took longer.
 */
export const TURN_MS = 2.5;
/** Length of a turn up to which they are started where others have the processor too, down to turns of this much processor time. */
export const WALL_MS = 4;
export const MIN_MS = 0.6;
export const MAX_PER_TURN = 512;

/**
 * Number of requests that the next turn may start, at least one. It drops at once to the number that would have fit a turn of the right
 * length, and rises slowly.
 */
export function nextPace(pace: number, { wallMs, cpuMs, started }: Turn): number {
  const over = Math.max(cpuMs / TURN_MS, Math.min(wallMs / WALL_MS, cpuMs / MIN_MS));
  if (over <= 1) return Math.min(MAX_PER_TURN, pace * 1.1 + 0.5);
  return Math.max(1, Math.min(pace, Math.max(1, started)) / over);
}

/** A request listener of Node's HTTP server. It throws nothing. */
export type RequestListener = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

/** Maximum requests of one connection that wait for earlier answers. */
export const MAX_WAITING = 16;

/**
 * Handles the requests of one connection in sequence, because their answers leave in that order anyway: requests pipelined behind a slow
 * answer cost only their headers. Ends a connection with more than `MAX_WAITING` waiting requests.
 */
export function inTurn(listener: RequestListener): RequestListener {
  const lines = new WeakMap<Socket, (() => void)[]>();
  return (incoming, outgoing) => {
    // The server speaks HTTP/1.1 only.
    const { socket } = incoming;
    const serve = () => {
      outgoing.once('close', () => letNextIn(lines, socket));
      listener(incoming, outgoing);
    };
    const line = lines.get(socket);
    if (!line) {
      lines.set(socket, []);
      return serve();
    }
    if (line.length >= MAX_WAITING) socket.destroy();
    if (!socket.destroyed) line.push(serve);
  };
}

function letNextIn(lines: WeakMap<Socket, (() => void)[]>, socket: Socket): void {
  const next = socket.destroyed ? undefined : lines.get(socket)?.shift();
  if (next) next();
  else lines.delete(socket);
}
