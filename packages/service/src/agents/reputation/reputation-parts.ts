import type { Evidence } from './evidence.ts';
import { type Liveness, type OutcomesPart, outcomesOf, type Score, scoreOf } from './reputation.ts';

/** A reputation with all inputs of its computation, as stored. */
export interface ReputationParts {
  readonly score: Score;
  readonly outcomes: OutcomesPart & Omit<Evidence, 'payers'>;
  readonly liveness: { readonly probes: number; readonly responseMs: number | null };
}

const nobody: Evidence = { payers: [], goodCalls: 0, badCalls: 0, linkedPayers: 0, linkedCalls: 0, records: 0 };

export const judgeOutcomes = ({ payers, ...counts }: Evidence = nobody): ReputationParts['outcomes'] => ({
  ...outcomesOf(payers),
  ...counts,
});

/** The parts from outcomes and the newest probes. */
export const partsOf = (outcomes: ReputationParts['outcomes'], liveness: Liveness): ReputationParts => ({
  score: scoreOf(outcomes, liveness),
  outcomes,
  liveness: { probes: Number(liveness.probes), responseMs: liveness.responseMs },
});

/** The reputation of an agent without payments and probes. */
export const newcomer = partsOf(judgeOutcomes(), { probes: 0n, probesPassed: 0n, responseMs: null });
