import type { Party } from './payer-ties.ts';
import { FULL_MICRO, HALF_LIFE_DAYS, type PayerEvidence } from './reputation.ts';

/** Age at which outcomes stop counting: ten half-lives. */
const HORIZON_DAYS = 10 * HALF_LIFE_DAYS;
/** Weight of outcomes of today: with this power of two the weights of all ages are whole numbers, without rounding. */
const FULL_WEIGHT = 2 ** 62;

/** Weight of outcomes by their age: a whole number, so that a sum of weighted amounts does not depend on the order of rows. */
export const weightOf = (ageDays: number): bigint =>
  BigInt(Math.round(FULL_WEIGHT * 0.5 ** (Math.max(0, ageDays) / HALF_LIFE_DAYS)));

/** The weights of all ages that count, from 0 days. */
export const weights: readonly bigint[] = Array.from({ length: HORIZON_DAYS }, (_, ageDays) => weightOf(ageDays));

/** Sums over the outcomes of a payer's calls. */
export interface PayerOutcomes {
  readonly accountId: string;
  /** Amounts, each capped at that of a full call, times their weights. */
  readonly good: bigint;
  readonly bad: bigint;
  readonly goodCalls: bigint;
  readonly badCalls: bigint;
  /** Number of records that were added up. */
  readonly records: bigint;
}

/** Evidence of payers about an agent, and the payers left out because of ties to its owner. */
export interface Evidence {
  readonly payers: readonly PayerEvidence[];
  readonly goodCalls: number;
  readonly badCalls: number;
  readonly linkedPayers: number;
  readonly linkedCalls: number;
  /** Number of records that were added up. */
  readonly records: number;
}

/**
 * Evidence per party of payers. A party that is the owner's own is ignored; of one that exchanged money with the owner, only negative
 * outcomes count: an owner can neither buy praise nor silence criticism by a gift.
 */
export function evidenceOf(
  outcomes: readonly PayerOutcomes[],
  parties: readonly Party[],
  credibilityOfAccount: (accountId: string) => number,
): Evidence {
  const outcomesOf = Map.groupBy(outcomes, ({ accountId }) => accountId);
  const found = { goodCalls: 0, badCalls: 0, linkedPayers: 0, linkedCalls: 0 };
  const payers: PayerEvidence[] = [];
  for (const { accountIds, tie } of parties) {
    const sum = sumOf(accountIds.flatMap((id) => outcomesOf.get(id) ?? []));
    const { goodCalls, badCalls } = { ...sum, ...(tie === 'none' ? {} : { goodCalls: 0 }) };
    const counted = tie === 'same' ? 0 : goodCalls + badCalls;
    if (tie !== 'none') found.linkedPayers += 1;
    found.linkedCalls += sum.goodCalls + sum.badCalls - counted;
    if (counted === 0) continue;
    found.goodCalls += goodCalls;
    found.badCalls += badCalls;
    const credibility = accountIds.reduce((most, id) => Math.max(most, credibilityOfAccount(id)), 0);
    payers.push({ good: tie === 'none' ? sum.good : 0, bad: sum.bad, credibility });
  }
  return { payers, ...found, records: Number(outcomes.reduce((total, { records }) => total + records, 0n)) };
}

function sumOf(outcomes: readonly PayerOutcomes[]) {
  const of = (pick: (each: PayerOutcomes) => bigint) => outcomes.reduce((total, each) => total + pick(each), 0n);
  return {
    good: inFullCalls(of(({ good }) => good)),
    bad: inFullCalls(of(({ bad }) => bad)),
    goodCalls: Number(of(({ goodCalls }) => goodCalls)),
    badCalls: Number(of(({ badCalls }) => badCalls)),
  };
}

const inFullCalls = (weighted: bigint): number => Number(weighted) / FULL_WEIGHT / Number(FULL_MICRO);
