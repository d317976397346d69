import { DAY_MS } from '../../lib/duration.ts';
import { type PayerBooks, partiesOf } from './payer-ties.ts';
import { FULL_MICRO } from './reputation.ts';

/** Number of unrelated owners paid that gives full credibility. */
export const ENOUGH_OWNERS = 5;
const ENOUGH_DAYS = 30;
const MIN_CREDIBILITY = 0.02;

/** Payments of an account to the agents of one owner. */
export interface PaidOwner {
  readonly ownerId: string;
  readonly paidMicro: bigint;
  readonly firstPaidAt: Date;
}

/** Breadth and age of a payer: the number of unrelated owners it has paid, and since when. */
export interface PayerHistory {
  readonly breadth: number;
  readonly since: Date | null;
}

/** Related owners count as one; an owner that was paid less than a full call counts in proportion. */
export function payerHistoryOf(accountId: string, paid: readonly PaidOwner[], books: PayerBooks): PayerHistory {
  const byOwner = Map.groupBy(paid, ({ ownerId }) => ownerId);
  const parties = partiesOf([accountId], byOwner.keys(), books).filter(({ tie }) => tie === 'none');
  const others = parties.map(({ accountIds }) => accountIds.flatMap((id) => byOwner.get(id) ?? []));
  const breadth = others.reduce((sum, payments) => {
    const paidMicro = payments.reduce((total, each) => total + each.paidMicro, 0n);
    return sum + Math.min(1, Number(paidMicro) / Number(FULL_MICRO));
  }, 0);
  const times = others.flat().map(({ firstPaidAt }) => firstPaidAt.getTime());
  return { breadth, since: times.length === 0 ? null : new Date(times.reduce((a, b) => Math.min(a, b))) };
}

/** Credibility of a payer, from 0.02 to 1. */
export function credibilityOf({ breadth, since }: PayerHistory, now: Date): number {
  const days = since === null ? 0 : (now.getTime() - since.getTime()) / DAY_MS;
  return Math.max(MIN_CREDIBILITY, Math.min(1, breadth / ENOUGH_OWNERS) * Math.min(1, Math.max(0, days) / ENOUGH_DAYS));
}
