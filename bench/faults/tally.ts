import { PRICE_MICRO } from './purchase.ts';
import type { Moved } from './read-payments.ts';

/** Outcome of one purchase. */
export interface Account extends Moved {
  readonly runs: number;
  readonly hasResult: boolean;
}

export interface Tally {
  readonly purchases: number;
  readonly payments: number;
  readonly refunds: number;
  readonly runs: number;
  readonly results: number;
  /** Paid for no result and not paid back, or the other way round; summed over the purchases, so that none makes up for another. */
  readonly unaccountedMicro: bigint;
  /** Purchases with which the promise was not kept. */
  readonly broken: number;
}

const missingMicro = ({ paidMicro, refundedMicro, hasResult }: Account): bigint =>
  paidMicro - refundedMicro - (hasResult ? PRICE_MICRO : 0n);

/** One payment, one run, one result; or, where the work is lost, the money back. */
const isKept = (account: Account, isWorkLost: boolean): boolean =>
  account.payments === 1 && account.runs === 1 && account.hasResult !== isWorkLost && missingMicro(account) === 0n;

export function tallyOf(accounts: readonly Account[], isWorkLost: boolean): Tally {
  const sum = (countOf: (account: Account) => number) => accounts.reduce((total, each) => total + countOf(each), 0);
  return {
    purchases: accounts.length,
    payments: sum(({ payments }) => payments),
    refunds: sum(({ refunds }) => refunds),
    runs: sum(({ runs }) => runs),
    results: sum(({ hasResult }) => Number(hasResult)),
    unaccountedMicro: accounts.map(missingMicro).reduce((total, micro) => total + (micro < 0n ? -micro : micro), 0n),
    broken: accounts.filter((account) => !isKept(account, isWorkLost)).length,
  };
}
