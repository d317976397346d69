import type { Invocation } from '../invocation.ts';
import { type Call, createPlaces, laneOf, type Place, type PlaceLimits, type PlaceLoad, type Side } from './places.ts';
import { STOPPING } from './stopping.ts';

/** Runs invocations in this process; the one way to run, whether a caller waits or not. */
export interface Runner {
  /**
   * Follows work on a request to its end. `work` runs at once, and only once at a time for a request. It has a place from the
   * beginning, also when there was no room, or takes one by `enter`.
   */
  track(
    request: Tracked,
    work: (signal: AbortSignal) => Promise<Invocation>,
    options?: { side?: Side; entersLater?: boolean },
  ): Promise<Invocation>;
  /** Resolves when there is a place for a request that is tracked without one, and it has it; also once the signal aborts or the deadline passes. */
  enter(request: Tracked & Pick<Invocation, 'deadline'>, signal: AbortSignal): Promise<void>;
  /** Nobody waits for the result any more, if somebody did. */
  unawait(requestId: string): void;
  /** The end of a request that this process is working on; null when it is not. */
  ending(requestId: string): Promise<Invocation> | null;
  trackedIds(): string[];
  /** Requests of a lane that are tracked and have no place yet. */
  waitingOf(lane: string): number;
  /** Keeps places for those of the calls, which are about to begin, that there is room for. */
  reserve(calls: readonly Call[], side: Side): Reservation;
  /** Lets in who waits for a place that a call left by running long. */
  letIn(): void;
  /** Keeps up to `most` places for calls out of the line. */
  reserveAny(most: number): { readonly room: number; readonly load: PlaceLoad; giveBack(): void };
  /** Called whenever room has become free. */
  onRoom(listener: () => void): void;
  /** Breaks off the call of a request that was ended elsewhere. */
  abort(requestId: string): void;
  /** Resolves when nothing is running, or after `graceMs`; then what is left is given up here. */
  drain(graceMs: number): Promise<void>;
  /** Aborted when this process stops working. */
  readonly signal: AbortSignal;
}

export type Tracked = Call & Pick<Invocation, 'id'>;

export interface Reservation {
  /** For each call, whether it has a place; none has in a process that stops. */
  readonly granted: readonly boolean[];
  /** To be called once they are tracked, or have come to nothing. */
  giveBack(): void;
}

export interface HasRunner {
  readonly runner: Runner;
}

export function createRunner(limits: PlaceLimits): Runner {
  const places = createPlaces(limits);
  const running = new Map<string, Running>();
  const waiting = new Map<string, Waiting>();
  const stopping = new AbortController();
  let onRoom = () => {};
  const letIn = () => {
    for (const each of waiting.values()) if (places.hasRoomFor(each.run.request, each.run.side)) each.letIn();
  };
  const roomCame = () => {
    letIn();
    onRoom();
  };
  const leave = ({ request, place }: Omit<Running, 'ending'>) => {
    running.delete(request.id);
    place?.leave();
    if (place) roomCame();
  };
  return {
    signal: stopping.signal,
    track(request, work, { side = 'back', entersLater = false } = {}) {
      const known = running.get(request.id);
      if (known) return known.ending;
      const abort = new AbortController();
      const run = { request, abort, side, place: entersLater ? null : places.take(request, side) };
      const ending = work(AbortSignal.any([abort.signal, stopping.signal])).finally(() => leave(run));
      ending.catch(() => undefined);
      running.set(request.id, Object.assign(run, { ending }));
      return ending;
    },
    async enter(request, signal) {
      const run = running.get(request.id);
      if (!run || run.place) return;
      const takePlace = () => {
        run.place = places.take(request, run.side);
      };
      if (places.hasRoomFor(request, run.side)) takePlace();
      else await untilLetIn(waiting, { run, deadline: request.deadline, signal, takePlace });
    },
    unawait(requestId) {
      const run = running.get(requestId);
      if (run?.side !== 'front') return;
      run.side = 'back';
      run.place?.toBack();
      letIn();
    },
    ending: (requestId) => running.get(requestId)?.ending ?? null,
    trackedIds: () => [...running.keys()],
    waitingOf(lane) {
      let count = 0;
      for (const { place, request } of running.values()) if (!place && laneOf(request) === lane) count += 1;
      return count;
    },
    reserve(calls, side) {
      const held: Place[] = [];
      const granted = calls.map((call) => {
        const isGranted = !stopping.signal.aborted && places.hasRoomFor(call, side);
        if (isGranted) held.push(places.take(call, side));
        return isGranted;
      });
      return {
        granted,
        giveBack() {
          for (const place of held.splice(0)) place.leave();
          if (granted.includes(true)) roomCame();
        },
      };
    },
    letIn,
    reserveAny(most) {
      const room = stopping.signal.aborted ? 0 : Math.max(0, Math.min(most, places.free('back')));
      return { room, load: places.load(), giveBack: places.keep(room) };
    },
    onRoom(listener) {
      onRoom = listener;
    },
    abort: (requestId) => running.get(requestId)?.abort.abort(),
    async drain(graceMs) {
      let timer: NodeJS.Timeout | undefined;
      const timeUp = new Promise((resolve) => {
        timer = setTimeout(resolve, graceMs);
      });
      await Promise.race([Promise.allSettled([...running.values()].map(({ ending }) => ending)), timeUp]);
      clearTimeout(timer);
      stopping.abort(STOPPING);
    },
  };
}

interface Running {
  readonly request: Tracked;
  readonly ending: Promise<Invocation>;
  readonly abort: AbortController;
  side: Side;
  /** null while it has none. */
  place: Place | null;
}

interface Waiting {
  readonly run: Pick<Running, 'request' | 'side'>;
  letIn(): void;
}

/** Past the deadline it is let in as well: what calls the agent finds that there is no time left. */
function untilLetIn(
  waiting: Map<string, Waiting>,
  {
    run,
    deadline,
    signal,
    takePlace,
  }: { run: Waiting['run']; deadline: Date; signal: AbortSignal; takePlace: () => void },
): Promise<void> {
  return new Promise((resolve) => {
    const letIn = () => {
      takePlace();
      clearTimeout(timer);
      signal.removeEventListener('abort', letIn);
      waiting.delete(run.request.id);
      resolve();
    };
    const timer = setTimeout(letIn, Math.max(0, deadline.getTime() - Date.now()));
    signal.addEventListener('abort', letIn);
    waiting.set(run.request.id, { run, letIn });
    if (signal.aborted) letIn();
  });
}
