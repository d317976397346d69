import type { Party } from './payer-ties.ts';
import { FULL_MICRO, HALF_LIFE_DAYS, type PayerEvidence } from './reputation.ts';

/** After ten half-lives an outcome counts for nothing. */
export const HORIZON_DAYS = 10 * HALF_LIFE_DAYS;

/** How a payer's calls of one day ended. Amounts are cut to that of a full call each. */
export interface OutcomeDay {
  readonly accountId: string;
  readonly ageDays: number;
  readonly goodMicro: bigint;
  readonly badMicro: bigint;
  readonly goodCalls: bigint;
  readonly badCalls: bigint;
}

/** What payers say of an agent, and whose word was left out because they have to do with its owner. */
export interface Evidence {
  readonly payers: readonly PayerEvidence[];
  readonly goodCalls: number;
  readonly badCalls: number;
  readonly linkedPayers: number;
  readonly linkedCalls: number;
}

/**
 * Evidence per party of payers. One that is one with the owner says nothing; of one that money went to or came from, only what it says
 * against the agent counts: so an owner can't buy praise, nor silence criticism by a gift.
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

/** In the order of their age and amounts, so that the sum is the same in whatever order they came. */
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
