import { createBoundedCache } from '../bounded-cache.ts';

/** A rate that parties share: none exceeds its own, all together not theirs, and the next turn is that of the party that had least of late. */
export interface FairPace {
  /** Resolves when the party may do work of this weight, or when the signal aborts. Work of one party keeps its order. */
  take(party: string, weight: number, signal?: AbortSignal): Promise<void>;
}

export interface Rate {
  /** Weight per second. */
  readonly perS: number;
  /** Weight that does not wait after a pause. Work may exceed it, and the next one waits. */
  readonly burst: number;
}

const MAX_PARTIES = 50_000;

interface Party {
  /** The used part of its rate. */
  readonly drain: Drain;
  /** Its work of the last seconds, which turns go by. */
  readonly recent: ReturnType<typeof createRecent>;
}

interface Waiting {
  readonly weight: number;
  readonly resolve: () => void;
}

export function createFairPace({ ofOne, ofAll }: { ofOne: Rate; ofAll: Rate }): FairPace {
  const all = createDrain(ofAll);
  const parties = createBoundedCache<Party>(MAX_PARTIES);
  const waiting = new Map<string, Waiting[]>();
  let timer: NodeJS.Timeout | undefined;

  function partyOf(name: string): Party {
    const party = parties.get(name) ?? { drain: createDrain(ofOne), recent: createRecent() };
    parties.set(name, party);
    return party;
  }

  function remove(name: string, entry: Waiting): void {
    const left = (waiting.get(name) ?? []).filter((each) => each !== entry);
    if (left.length > 0) waiting.set(name, left);
    else waiting.delete(name);
  }

  /** The first work that may be done by the rate of its party, or how long it is until there is some. */
  function next(nowMs: number) {
    let first: { name: string; entry: Waiting; party: Party; recent: number } | undefined;
    let soonestMs = Number.POSITIVE_INFINITY;
    for (const [name, [entry]] of waiting) {
      if (!entry) continue;
      const party = partyOf(name);
      const waitMs = party.drain.waitMs(nowMs);
      soonestMs = Math.min(soonestMs, waitMs);
      const recent = party.recent.at(nowMs);
      if (waitMs === 0 && !(first && first.recent <= recent)) first = { name, entry, party, recent };
    }
    return { first, soonestMs };
  }

  function pump(): void {
    clearTimeout(timer);
    while (waiting.size > 0) {
      const nowMs = performance.now();
      const { first, soonestMs } = next(nowMs);
      const waitMs = Math.max(all.waitMs(nowMs), soonestMs);
      if (!first || waitMs > 0) {
        timer = setTimeout(pump, Math.ceil(waitMs));
        return;
      }
      const { name, entry, party } = first;
      party.recent.use(entry.weight, nowMs);
      party.drain.use(entry.weight, nowMs);
      all.use(entry.weight, nowMs);
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

/** Work that counts less the longer ago it was done. */
function createRecent() {
  let done = 0;
  let atMs = 0;
  const at = (nowMs: number) => done * Math.exp((atMs - nowMs) / RECENT_MS);
  return {
    at,
    use(weight: number, nowMs: number) {
      done = at(nowMs) + weight;
      atMs = nowMs;
    },
  };
}

type Drain = ReturnType<typeof createDrain>;

/** Used weight, which drains at the rate. */
function createDrain({ perS, burst }: Rate) {
  let used = 0;
  let atMs = 0;
  const usedAt = (nowMs: number) => Math.max(0, used - ((nowMs - atMs) * perS) / 1000);
  return {
    use(weight: number, nowMs: number) {
      used = usedAt(nowMs) + weight;
      atMs = nowMs;
    },
    waitMs: (nowMs: number) => Math.max(0, ((usedAt(nowMs) - burst) * 1000) / perS),
  };
}
