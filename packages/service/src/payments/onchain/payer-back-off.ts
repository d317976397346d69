import { networkOf } from '../../lib/net/address-ranges.ts';
import { isLoopback } from '../../lib/net/guarded-fetch-address.ts';
import type { NewChainPayment } from './chain-payment.ts';

/** Whom a payment that cost gas and moved nothing is counted against. */
export type StrikeKind = 'wallet' | 'account' | 'client';

export interface StrikeSubject {
  readonly kind: StrikeKind;
  /** As it is stored. */
  readonly subject: string;
}

/** How many such payments have no consequence: an account may have several wallets, and many share a network address. */
const tolerated: Record<StrikeKind, number> = { wallet: 0, account: 2, client: 9 };

const MINUTE_MS = 60_000;
/** How long the next payment is refused after the first, second … that is not tolerated. */
const BACK_OFF_MS = [0.5, 2, 10, 60, 360, 1440].map((minutes) => minutes * MINUTE_MS);

/** After so long without another, the count starts anew. */
export const STRIKES_KEPT_MS = 7 * 1440 * MINUTE_MS;

/** How long payments are refused after so many strikes. */
export function backOffMs(kind: StrikeKind, strikes: number): number {
  const counted = strikes - tolerated[kind];
  return counted <= 0 ? 0 : (BACK_OFF_MS[Math.min(counted, BACK_OFF_MS.length) - 1] ?? 0);
}

export function strikeSubjects(
  payment: Pick<NewChainPayment, 'authorization' | 'accountId'> & { readonly client?: string | null },
): StrikeSubject[] {
  const { authorization, accountId, client = null } = payment;
  const named = [
    ['wallet', authorization.from],
    ['account', accountId],
    // Everybody on the machine of the node has its address.
    ['client', client === null || isLoopback(client) ? null : (networkOf(client) ?? client)],
  ] as const;
  return named.flatMap(([kind, name]) => (name === null ? [] : [{ kind, subject: `${kind}:${name}` }]));
}
