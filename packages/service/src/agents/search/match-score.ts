/** Weights in hundredths. Paid calls of others outweigh an agent's own words and its price. */
export const matchWeights = { text: 40, reputation: 45, price: 8, latency: 4, load: 3 } as const;
type PartName = keyof typeof matchWeights;

/** Maximum reputation of an agent without paid calls: see `scoreOf` in reputation.ts. */
export const NO_RECORD = 467;
const BEST_RECORD = 1000;
const SLOW_MS = 5000;

export interface Candidate {
  readonly id: string;
  readonly isVerified: boolean;
  /** See `coverageOf`. */
  readonly coverage: number;
  readonly reputation: number;
  readonly priceMicro: bigint;
  /** null: never measured. */
  readonly responseMs: number | null;
  /** 0 to 1. */
  readonly load: number;
}

export interface MatchScore {
  /** The weighted sum of the parts, 0 to 1. */
  readonly score: number;
  /** Values from 0 to 1, in thousandths. */
  readonly parts: Readonly<Record<PartName, number>>;
  readonly coverage: number;
  readonly credit: number;
}

/** Scores an agent; `usualMicro` is the price that the others ask. */
export function matchScore(candidate: Candidate, usualMicro: bigint): MatchScore {
  const { reputation, responseMs, priceMicro } = candidate;
  const coverage = thousandths(candidate.coverage);
  const record = thousandths(Math.max(0, reputation - NO_RECORD) / (BEST_RECORD - NO_RECORD));
  const credit = thousandths((1 + record) / 2);
  const parts = {
    text: thousandths(coverage * credit),
    reputation: record,
    price: thousandths(cheapness(priceMicro, usualMicro)),
    latency: thousandths(responseMs === null ? 0 : Math.max(0, 1 - responseMs / SLOW_MS)),
    load: thousandths(1 - candidate.load),
  };
  const names = Object.keys(parts) as PartName[];
  const points = names.reduce((sum, name) => sum + matchWeights[name] * Math.round(parts[name] * 1000), 0);
  return { score: points / 100_000, parts, coverage, credit };
}

const thousandths = (value: number): number => Math.round(value * 1000) / 1000;

/** 1 for nothing, 0.5 for the usual price. */
const cheapness = (priceMicro: bigint, usualMicro: bigint): number =>
  priceMicro === 0n ? 1 : Number(usualMicro) / (Number(usualMicro) + Number(priceMicro));

export type Ranked<C extends Candidate = Candidate> = C & { readonly match: MatchScore };

/** Verified agents first, then by score; among equals by id. */
export const rankCandidates = <C extends Candidate>(candidates: readonly C[], usualMicro: bigint): Ranked<C>[] =>
  candidates
    .map((candidate) => ({ ...candidate, match: matchScore(candidate, usualMicro) }))
    .toSorted(
      (a, b) => Number(b.isVerified) - Number(a.isVerified) || b.match.score - a.match.score || (a.id < b.id ? -1 : 1),
    );
