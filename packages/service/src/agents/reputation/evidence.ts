import type { Party } from './payer-ties.ts';
import { FULL_MICRO, HALF_LIFE_DAYS, type PayerEvidence } from './reputation.ts';

/** Age at which outcomes stop counting: ten half-lives. */
export const HORIZON_DAYS = 10 * HALF_LIFE_DAYS;

/** Outcomes of a payer's calls of one day. Each amount is capped at that of a full call. */
export interface OutcomeDay {
  readonly accountId: string;
  readonly ageDays: number;
  readonly goodMicro: bigint;
  readonly badMicro: bigint;
  readonly goodCalls: bigint;
  readonly badCalls: bigint;
}

/** Evidence of payers about an agent, and the payers left out because of ties to its owner. */
export interface Evidence {
  readonly payers: readonly PayerEvidence[];
  readonly goodCalls: number;
  readonly badCalls: number;
  readonly linkedPayers: number;
  readonly linkedCalls: number;
}

/**
 * Evidence per party of payers. A party that is the owner's own is ignored; of one that exchanged money with the owner, only negative
 * outcomes count: an owner can neither buy praise nor silence criticism by a gift.
 */
export function evidenceOf(
  days: readonly OutcomeDay[],
  parties: readonly Party[],
  credibilityOfAccount: (accountId: string) => number,
): Evidence {
  const daysOf = Map.groupBy(days, ({ accountId }) => accountId);
  const found = { goodCalls: 0, badCalls: 0, linkedPayers: 0, linkedCalls: 0 };
  const payers: PayerEvidence[] = [];
  for (const { accountIds, tie } of parties) {
    const sum = sumOf(accountIds.flatMap((id) => daysOf.get(id) ?? []));
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
  return { payers, ...found };
}

/** Sorted by age and amount, so that the floating-point sum does not depend on the order of rows. */
function sumOf(days: readonly OutcomeDay[]) {
  const sum = { good: 0, bad: 0, goodCalls: 0, badCalls: 0 };
  const byAge = Map.groupBy(days, ({ ageDays }) => Math.max(0, ageDays));
  for (const [ageDays, sameDay] of [...byAge].sort(([a], [b]) => b - a)) {
    const weight = 0.5 ** (ageDays / HALF_LIFE_DAYS) / Number(FULL_MICRO);
    const of = (pick: (day: OutcomeDay) => bigint) => Number(sameDay.reduce((total, day) => total + pick(day), 0n));
    sum.good += weight * of(({ goodMicro }) => goodMicro);
    sum.bad += weight * of(({ badMicro }) => badMicro);
    sum.goodCalls += of(({ goodCalls }) => goodCalls);
    sum.badCalls += of(({ badCalls }) => badCalls);
  }
  return sum;
}
