import type { SlotLimits } from '../../config/limits.ts';
import { endsWithin } from '../../lib/concurrency/within.ts';
import type { Store } from '../../store/database.ts';
import type { Invocation } from '../invocation.ts';
import { STOPPING } from '../protocols/adapter.ts';
import { type Call, createSlots, type Side, type Slot, type SlotLoad, type Slots, tenantOf } from './slots.ts';

/** Runs invocations in this process; the only way to run one, with or without a waiting caller. */
export interface Runner {
  /**
   * Tracks work on a request until it ends. `work` starts at once, and only once at a time for each request. It has a slot from the
   * beginning, even beyond the maximum, or takes one with `enter`.
   */
  track(
    request: Tracked,
    work: (signal: AbortSignal) => Promise<Invocation>,
    options?: { side?: Side; entersLater?: boolean },
  ): Promise<Invocation>;
  /** Resolves when a request that is tracked without a slot gets one; also when the signal aborts or the deadline passes. */
  enter(request: Tracked & Pick<Invocation, 'deadline'>, signal: AbortSignal): Promise<void>;
  /** Records that the caller no longer waits for the result. Idempotent. */
  detach(requestId: string): void;
  /** The end of a request that this process runs; null: it runs elsewhere, or not at all. */
  ending(requestId: string): Promise<Invocation> | null;
  trackedIds(): string[];
  /**
   * Marks requests that are about to be stored, so that they do not count as lost before they are tracked. Returns the function that
   * removes the mark.
   */
  expect(requestIds: readonly string[]): () => void;
  /** The tracked and the expected ones. */
  knownIds(): string[];
  /** Number of tracked requests of a tenant without a slot. */
  waitingOf(tenant: string): number;
  /** Reserves slots for calls that are about to begin, as far as there is room. */
  reserve(calls: readonly Call[], side: Side): Reservation;
  /** True while requests are tracked without a slot. */
  hasWaiting(): boolean;
  /** Admits waiting requests to slots that long calls have released. */
  admit(): void;
  /** Reserves up to `most` slots for queued calls. */
  reserveAny(most: number): { readonly room: number; readonly load: SlotLoad; giveBack(): void };
  /** Calls the listener whenever a slot becomes free. */
  onRoom(listener: () => void): void;
  /** Aborts the call of a request that was ended elsewhere. */
  abort(requestId: string): void;
  /** Resolves when nothing runs, or after `graceMs`; the remaining work is then abandoned in this process. */
  drain(graceMs: number): Promise<void>;
  /** Aborted when this process stops working. */
  readonly signal: AbortSignal;
}

export type Tracked = Call & Pick<Invocation, 'id'>;

export interface Reservation {
  /** For each call, true when it has a slot; all false in a process that stops. */
  readonly granted: readonly boolean[];
  /** Call it once the calls are tracked or abandoned. */
  giveBack(): void;
}

export function createRunner(limits: SlotLimits, { clock }: Pick<Store, 'clock'>): Runner {
  const slots = createSlots(limits);
  const running = new Map<string, Running>();
  const expected = createExpected();
  const entrance = createEntrance(slots);
  const stopping = new AbortController();
  let onRoom = () => {};
  const roomCame = () => {
    entrance.admit();
    onRoom();
  };
  const leave = ({ request, slot }: Omit<Running, 'ending'>) => {
    running.delete(request.id);
    slot?.leave();
    if (slot) roomCame();
  };
  return {
    signal: stopping.signal,
    track(request, work, { side = 'back', entersLater = false } = {}) {
      const known = running.get(request.id);
      if (known) return known.ending;
      const abort = new AbortController();
      const { promise: ending, resolve, reject } = Promise.withResolvers<Invocation>();
      const run = { request, abort, side, slot: entersLater ? null : slots.take(request, side), ending };
      ending.catch(() => undefined);
      // Tracked before it starts: work may enter at once.
      running.set(request.id, run);
      work(AbortSignal.any([abort.signal, stopping.signal]))
        .finally(() => leave(run))
        .then(resolve, reject);
      return ending;
    },
    async enter(request, signal) {
      const run = running.get(request.id);
      if (run && !run.slot) await entrance.enter(run, request.deadline.getTime() - clock.now().getTime(), signal);
    },
    detach(requestId) {
      const run = running.get(requestId);
      if (run?.side !== 'front') return;
      run.side = 'back';
      run.slot?.toBack();
      entrance.admit();
    },
    ending: (requestId) => running.get(requestId)?.ending ?? null,
    trackedIds: () => [...running.keys()],
    expect: expected.expect,
    knownIds: () => [...running.keys(), ...expected.ids()],
    waitingOf: (tenant) => countWaiting(running.values(), tenant),
    reserve(calls, side) {
      const canStart = (call: Call) => !stopping.signal.aborted && slots.hasRoomFor(call, side);
      return reserveEach(calls, (call) => (canStart(call) ? slots.take(call, side) : null), roomCame);
    },
    admit: entrance.admit,
    hasWaiting: entrance.hasWaiting,
    reserveAny(most) {
      const room = stopping.signal.aborted ? 0 : Math.max(0, Math.min(most, slots.free('back')));
      return { room, load: slots.load(), giveBack: slots.keep(room) };
    },
    onRoom(listener) {
      onRoom = listener;
    },
    abort: (requestId) => running.get(requestId)?.abort.abort(),
    async drain(graceMs) {
      const endings = [...running.values()].map(({ ending }) => ending);
      await endsWithin(Promise.allSettled(endings), graceMs);
      stopping.abort(STOPPING);
    },
  };
}

/** Requests that are about to be stored. */
function createExpected() {
  const expected = new Set<readonly string[]>();
  return {
    expect(requestIds: readonly string[]): () => void {
      expected.add(requestIds);
      return () => void expected.delete(requestIds);
    },
    ids: () => [...expected].flat(),
  };
}

/** Counts the tracked requests of a tenant that have no slot yet. */
function countWaiting(tracked: Iterable<Omit<Running, 'ending'>>, tenant: string): number {
  let count = 0;
  for (const { slot, request } of tracked) if (!slot && tenantOf(request) === tenant) count += 1;
  return count;
}

/** Takes a slot for each call, as far as there is one. */
function reserveEach(calls: readonly Call[], takeSlot: (call: Call) => Slot | null, roomCame: () => void): Reservation {
  const held = calls.map(takeSlot);
  const granted = held.map((slot) => slot !== null);
  return {
    granted,
    giveBack() {
      for (const slot of held.splice(0)) slot?.leave();
      if (granted.includes(true)) roomCame();
    },
  };
}

interface Running {
  readonly request: Tracked;
  readonly ending: Promise<Invocation>;
  readonly abort: AbortController;
  side: Side;
  /** null: no slot yet. */
  slot: Slot | null;
}

/** Queue of tracked requests for a slot of their side. */
function createEntrance(slots: Slots) {
  const waiting = new Map<string, { readonly run: Omit<Running, 'ending'>; admit(): void }>();
  /** Also admits after the deadline: the work then fails because no time is left. */
  const untilLetIn = (run: Omit<Running, 'ending'>, leftMs: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const admit = () => {
        run.slot = slots.take(run.request, run.side);
        clearTimeout(timer);
        signal.removeEventListener('abort', admit);
        waiting.delete(run.request.id);
        resolve();
      };
      const timer = setTimeout(admit, Math.max(0, leftMs));
      signal.addEventListener('abort', admit);
      waiting.set(run.request.id, { run, admit });
      if (signal.aborted) admit();
    });
  return {
    /** Gives the run a slot: at once where there is room, else when `admit` finds room, the time is up or the signal aborts. */
    async enter(run: Omit<Running, 'ending'>, leftMs: number, signal: AbortSignal): Promise<void> {
      if (slots.hasRoomFor(run.request, run.side)) run.slot = slots.take(run.request, run.side);
      else await untilLetIn(run, leftMs, signal);
    },
    hasWaiting: () => waiting.size > 0,
    /** Admits those that there is room for, in the order in which they came. */
    admit(): void {
      for (const { run, admit } of waiting.values()) if (slots.hasRoomFor(run.request, run.side)) admit();
    },
  };
}
