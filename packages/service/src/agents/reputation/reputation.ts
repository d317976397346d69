/** Version of the reputation formula. Increment it with every change that moves a score. */
export const FORMULA_VERSION = 3;

/** Amount from which a call counts in full; smaller amounts count in proportion. */
export const FULL_MICRO = 50_000n;
export const HALF_LIFE_DAYS = 30;
/** Number of days of probes that count. */
export const UPTIME_DAYS = 30;

/** Maximum weight of one payer's outcomes together. */
const MAX_PER_PAYER = 3;
/** Payers below this credibility share one pool, capped at a share of the other payers' weight, with a minimum. */
const CREDIBLE = 0.25;
const POOL_SHARE = 0.25;
const MIN_POOL = 2;
/** Prior: every agent starts with as many virtual good outcomes as bad ones, so that few real ones weigh little. */
const PRIOR = 4;
const POINTS = { outcomes: 800, uptime: 120, latency: 80 } as const;
const SLOW_MS = 5000;

/** Evidence of one payer about an agent: outcomes weighted by amount and age. `credibility` is 0.02 to 1. */
export interface PayerEvidence {
  readonly good: number;
  readonly bad: number;
  readonly credibility: number;
}

/** Sums over payers' outcomes; `good` and `bad` are after all caps. */
export interface OutcomesPart {
  readonly good: number;
  readonly bad: number;
  /** Conservative estimate of the share of successful calls, 0 to 1. */
  readonly quality: number;
  readonly crediblePayers: number;
  readonly weakPayers: number;
  /** Weight offered by payers of low credibility; `weakUsed` is the part that counts. */
  readonly weakOffered: number;
  readonly weakUsed: number;
}

export interface Liveness {
  readonly probes: bigint;
  readonly probesPassed: bigint;
  readonly responseMs: number | null;
}

export interface Component {
  /** Maximum points of the part. */
  readonly points: number;
  /** 0 to 1. */
  readonly value: number;
  /** Points that the part contributes. */
  readonly contribution: number;
}

/** A reputation from 0 to 1000, and its parts. */
export interface Score {
  readonly score: number;
  readonly outcomes: Component;
  readonly uptime: Component;
  readonly latency: Component;
}

/** Sums up the payers' evidence, independent of their order. */
export function outcomesOf(payers: readonly PayerEvidence[]): OutcomesPart {
  const credible = sumOf(payers.filter(({ credibility }) => credibility >= CREDIBLE));
  const weak = sumOf(payers.filter(({ credibility }) => credibility < CREDIBLE));
  const most = Math.max(MIN_POOL, POOL_SHARE * (credible.good + credible.bad));
  const weakOffered = weak.good + weak.bad;
  const share = weakOffered > most ? most / weakOffered : 1;
  const good = credible.good + weak.good * share;
  const bad = credible.bad + weak.bad * share;
  const counts = { crediblePayers: credible.payers, weakPayers: weak.payers };
  return { good, bad, quality: qualityOf(good, bad), ...counts, weakOffered, weakUsed: weakOffered * share };
}

/** Summed from the least to the most, so that the floating-point sum does not depend on the order. */
function sumOf(payers: readonly PayerEvidence[]): { good: number; bad: number; payers: number } {
  const capped = payers.map(({ good, bad, credibility }) => {
    const factor = credibility * Math.min(1, MAX_PER_PAYER / (good + bad || 1));
    return { good: good * factor, bad: bad * factor };
  });
  const add = (values: number[]) => values.sort((a, b) => a - b).reduce((sum, value) => sum + value, 0);
  return { good: add(capped.map(({ good }) => good)), bad: add(capped.map(({ bad }) => bad)), payers: payers.length };
}

/** Independent payers below which an agent is new. */
const MIN_PAYERS = 3;

/** True while so few independent payers have paid that the score is mostly the prior. */
export const isNewAgent = ({ crediblePayers, weakPayers }: Pick<OutcomesPart, 'crediblePayers' | 'weakPayers'>) =>
  crediblePayers + weakPayers < MIN_PAYERS;

/** The mean of a beta distribution less its standard deviation. */
function qualityOf(good: number, bad: number): number {
  const total = PRIOR + good + PRIOR + bad;
  const mean = (PRIOR + good) / total;
  return Math.max(0, mean - Math.sqrt((mean * (1 - mean)) / (total + 1)));
}

/** The score of an agent: outcomes first, then uptime and speed. Each part is rounded, so that the parts add up. */
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
