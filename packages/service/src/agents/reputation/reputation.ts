/** Which formula a reputation was worked out with. It rises with every change that moves a score. */
export const FORMULA_VERSION = 2;

/** What an amount must be for a call to count in full; less counts in proportion. */
export const FULL_MICRO = 50_000n;
export const HALF_LIFE_DAYS = 30;
/** Of how many days probes count. */
export const UPTIME_DAYS = 30;

/** The most that one payer's outcomes add up to, whatever their number. */
const MAX_PER_PAYER = 3;
/** Payers that can be believed less than this share one pool: this much of what the others say, or this little at least. */
const CREDIBLE = 0.25;
const POOL_SHARE = 0.25;
const LEAST_POOL = 2;
/** Every agent starts with as many imagined good outcomes as bad ones: few real ones then say little. */
const PRIOR = 4;
const POINTS = { outcomes: 800, uptime: 120, latency: 80 } as const;
const SLOW_MS = 5000;

/** What one payer says of an agent: outcomes weighted by amount and age. `credibility` is 0.02 to 1. */
export interface PayerEvidence {
  readonly good: number;
  readonly bad: number;
  readonly credibility: number;
}

/** What payers' outcomes came to: `good` and `bad` are what counts of them in the end. */
export interface OutcomesPart {
  readonly good: number;
  readonly bad: number;
  /** A cautious estimate of the share of calls that succeed, 0 to 1. */
  readonly quality: number;
  readonly crediblePayers: number;
  readonly weakPayers: number;
  /** How much payers that are hardly known had to say, and how much of it counts. */
  readonly weakOffered: number;
  readonly weakUsed: number;
}

export interface Liveness {
  readonly probes: bigint;
  readonly probesPassed: bigint;
  readonly responseMs: number | null;
}

export interface Component {
  /** The most points it can give. */
  readonly points: number;
  /** 0 to 1. */
  readonly value: number;
  /** The points it gives. */
  readonly contribution: number;
}

/** A reputation from 0 to 1000, and what it is the sum of. */
export interface Score {
  readonly score: number;
  readonly outcomes: Component;
  readonly uptime: Component;
  readonly latency: Component;
}

/** What payers' evidence comes to; their order does not matter. */
export function outcomesOf(payers: readonly PayerEvidence[]): OutcomesPart {
  const credible = sumOf(payers.filter(({ credibility }) => credibility >= CREDIBLE));
  const weak = sumOf(payers.filter(({ credibility }) => credibility < CREDIBLE));
  const most = Math.max(LEAST_POOL, POOL_SHARE * (credible.good + credible.bad));
  const weakOffered = weak.good + weak.bad;
  const share = weakOffered > most ? most / weakOffered : 1;
  const good = credible.good + weak.good * share;
  const bad = credible.bad + weak.bad * share;
  const counts = { crediblePayers: credible.payers, weakPayers: weak.payers };
  return { good, bad, quality: qualityOf(good, bad), ...counts, weakOffered, weakUsed: weakOffered * share };
}

/** Summed from the least to the most, so that the sum is the same in whatever order they came. */
function sumOf(payers: readonly PayerEvidence[]): { good: number; bad: number; payers: number } {
  const capped = payers.map(({ good, bad, credibility }) => {
    const factor = credibility * Math.min(1, MAX_PER_PAYER / (good + bad || 1));
    return { good: good * factor, bad: bad * factor };
  });
  const add = (values: number[]) => values.sort((a, b) => a - b).reduce((sum, value) => sum + value, 0);
  return { good: add(capped.map(({ good }) => good)), bad: add(capped.map(({ bad }) => bad)), payers: payers.length };
}

/** The mean of a beta distribution less its standard deviation. */
function qualityOf(good: number, bad: number): number {
  const total = PRIOR + good + PRIOR + bad;
  const mean = (PRIOR + good) / total;
  return Math.max(0, mean - Math.sqrt((mean * (1 - mean)) / (total + 1)));
}

/** The score of an agent: outcomes first, with uptime and speed as lesser parts. Each part is rounded, so that they add up. */
export function scoreOf(
  { quality }: Pick<OutcomesPart, 'quality'>,
  { probes, probesPassed, responseMs }: Liveness,
): Score {
  const outcomes = component(POINTS.outcomes, quality);
  const uptime = component(POINTS.uptime, probes === 0n ? 0 : Number(probesPassed) / Number(probes));
  const latency = component(POINTS.latency, responseMs === null ? 0 : Math.max(0, 1 - responseMs / SLOW_MS));
  const score = outcomes.contribution + uptime.contribution + latency.contribution;
  return { score, outcomes, uptime, latency };
}

const component = (points: number, value: number): Component => ({
  points,
  value,
  contribution: Math.round(points * value),
});
