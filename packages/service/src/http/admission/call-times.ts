import { createBoundedCache } from '../../lib/bounded-cache.ts';

/** Durations of one agent's calls, in a second and in the one before. */
interface Seen {
  sinceMs: number;
  count: number;
  sumMs: number;
  lastMs: number;
}

/** Durations of calls from their start to their answer: the node's own time, which an overload multiplies, and the agent's. */
export interface CallTimes {
  record(url: string | undefined, tookMs: number, nowMs: number): void;
  /** Recent average duration of calls of this agent; 0: unknown. */
  expectedMs(url: string | undefined, nowMs: number): number;
}

const MAX_KNOWN = 10_000;
const WINDOW_MS = 1000;
/** Age at which durations say nothing of the present: a call is then tried. */
const KNOWN_MS = 5 * WINDOW_MS;
const OF_AGENT = /^\/(?:invoke|x402)\/([\w-]+)/;

export function createCallTimes(): CallTimes {
  const known = createBoundedCache<Seen>(MAX_KNOWN, KNOWN_MS);
  const agentOf = (url = '') => OF_AGENT.exec(url)?.[1] ?? null;
  return {
    record(url, tookMs, nowMs) {
      const agent = agentOf(url);
      if (agent === null) return;
      const seen = known.get(agent) ?? { sinceMs: nowMs, count: 0, sumMs: 0, lastMs: tookMs };
      if (nowMs - seen.sinceMs >= WINDOW_MS)
        Object.assign(seen, { sinceMs: nowMs, count: 0, sumMs: 0, lastMs: seen.sumMs / Math.max(1, seen.count) });
      seen.count += 1;
      seen.sumMs += tookMs;
      known.set(agent, seen);
    },
    expectedMs(url, nowMs) {
      const agent = agentOf(url);
      const seen = agent === null ? undefined : known.get(agent);
      if (!seen || nowMs - seen.sinceMs >= KNOWN_MS) return 0;
      return Math.max(seen.lastMs, seen.sumMs / Math.max(1, seen.count));
    },
  };
}
