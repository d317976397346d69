import { createBoundedCache } from '../bounded-cache.ts';
import { createMeter, type Rate } from './meter.ts';

/** Queue in front of two meters, one per party and one for all. The party that used least recently goes next. */
export interface FairPace {
  /** Resolves when the party may do work of this weight, or when the signal aborts. Work of one party keeps its order. */
  take(party: string, weight: number, signal?: AbortSignal): Promise<void>;
}

const MAX_PARTIES = 50_000;

interface Waiting {
  readonly weight: number;
  readonly resolve: () => void;
}

export function createFairPace({ ofOne, ofAll }: { ofOne: Rate; ofAll: Rate }): FairPace {
  const all = createMeter(ofAll);
  const parties = createMeter(ofOne);
  const recent = createRecent();
  const waiting = new Map<string, Waiting[]>();
  let timer: NodeJS.Timeout | undefined;

  function remove(name: string, entry: Waiting): void {
    const left = (waiting.get(name) ?? []).filter((each) => each !== entry);
    if (left.length > 0) waiting.set(name, left);
    else waiting.delete(name);
  }

  /** The first work that may be done by the rate of its party, or how long it is until there is some. */
  function next(nowMs: number) {
    let first: { name: string; entry: Waiting; used: number } | undefined;
    let soonestMs = Number.POSITIVE_INFINITY;
    for (const [name, [entry]] of waiting) {
      if (!entry) continue;
      const waitMs = parties.waitMs(name, 0, nowMs);
      soonestMs = Math.min(soonestMs, waitMs);
      const used = recent.of(name, nowMs);
      if (waitMs === 0 && !(first && first.used <= used)) first = { name, entry, used };
    }
    return { first, soonestMs };
  }

  function pump(): void {
    clearTimeout(timer);
    while (waiting.size > 0) {
      const nowMs = performance.now();
      const { first, soonestMs } = next(nowMs);
      const waitMs = Math.max(all.waitMs('', 0, nowMs), soonestMs);
      if (!first || waitMs > 0) {
        timer = setTimeout(pump, Math.ceil(waitMs));
        return;
      }
      const { name, entry } = first;
      recent.use(name, entry.weight, nowMs);
      parties.use(name, entry.weight, nowMs);
      all.use('', entry.weight, nowMs);
      remove(name, entry);
      entry.resolve();
    }
  }

  return {
    async take(name, weight, signal) {
      if (signal?.aborted) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      const entry = { weight, resolve };
      const giveUp = () => {
        remove(name, entry);
        resolve();
      };
      signal?.addEventListener('abort', giveUp, { once: true });
      waiting.set(name, [...(waiting.get(name) ?? []), entry]);
      pump();
      await promise;
      signal?.removeEventListener('abort', giveUp);
    },
  };
}

const RECENT_MS = 10_000;

/** Work of each party, which counts less the longer ago it was done. */
function createRecent() {
  const parties = createBoundedCache<{ readonly done: number; readonly atMs: number }>(MAX_PARTIES);
  const of = (name: string, nowMs: number) => {
    const party = parties.get(name);
    return party ? party.done * Math.exp((party.atMs - nowMs) / RECENT_MS) : 0;
  };
  return {
    of,
    use: (name: string, weight: number, nowMs: number) =>
      void parties.set(name, { done: of(name, nowMs) + weight, atMs: nowMs }),
  };
}
