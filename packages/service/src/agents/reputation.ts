/** What a reputation is made of. */
export interface Evidence {
  /** Paid calls by others that the agent completed, and that it failed. */
  readonly completed: bigint;
  readonly failed: bigint;
  readonly probesPassed: bigint;
  readonly probes: bigint;
  readonly responseMs: number | null;
}

/** Every agent starts with as many imagined good outcomes as bad ones: few real ones then say little. */
const PRIOR = 4;
const WEIGHTS = { outcomes: 0.8, uptime: 0.12, latency: 0.08 };
const SLOW_MS = 5000;

/** 0 to 1000: a cautious estimate of the share of calls that succeed, with uptime and speed as lesser parts. */
export function reputationOf(evidence: Evidence): number {
  const good = PRIOR + Number(evidence.completed);
  const bad = PRIOR + Number(evidence.failed);
  const mean = good / (good + bad);
  const cautious = Math.max(0, mean - Math.sqrt((mean * (1 - mean)) / (good + bad + 1)));
  const uptime = evidence.probes === 0n ? 0 : Number(evidence.probesPassed) / Number(evidence.probes);
  const latency = evidence.responseMs === null ? 0 : Math.max(0, 1 - evidence.responseMs / SLOW_MS);
  return Math.round(1000 * (WEIGHTS.outcomes * cautious + WEIGHTS.uptime * uptime + WEIGHTS.latency * latency));
}

export interface Comparable {
  readonly capabilities: readonly string[];
  readonly perRequestMicro: bigint;
  readonly reputation: number;
}

/** 0 to 1: how well one agent can stand in for another. Shared capabilities first, then a near price, then reputation. */
export function similarity(wanted: Comparable, candidate: Comparable): number {
  const shared = candidate.capabilities.filter((name) => wanted.capabilities.includes(name)).length;
  const union = new Set([...wanted.capabilities, ...candidate.capabilities]).size;
  const [low, high] = [wanted.perRequestMicro, candidate.perRequestMicro].sort((a, b) => (a < b ? -1 : 1)) as [
    bigint,
    bigint,
  ];
  const price = high === 0n ? 1 : Number(low) / Number(high);
  const score = 0.7 * (union === 0 ? 0 : shared / union) + 0.2 * price + 0.1 * (candidate.reputation / 1000);
  return Math.round(score * 100) / 100;
}
