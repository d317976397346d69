import type { Authorization } from '../../../chain/signatures/authorization.ts';
import { MINUTE_MS } from '../../../lib/duration.ts';
import { networkOf } from '../../../lib/net/address-ranges.ts';
import { isLoopback } from '../../../lib/net/guarded-fetch-address.ts';

/** Who a payment comes from: the wallet, and the account and network address that showed it; null: none. */
export interface PaymentOrigin {
  readonly authorization: Pick<Authorization, 'from'>;
  readonly accountId: string | null;
  readonly client?: string | null;
}

/** Kind of subject that a payment which cost gas and moved nothing is counted against. */
export type StrikeKind = 'wallet' | 'account' | 'client';

export interface StrikeSubject {
  readonly kind: StrikeKind;
  /** The stored value. */
  readonly subject: string;
}

/** Number of strikes without consequence: an account may have several wallets, and many accounts share a network address. */
const tolerated: Record<StrikeKind, number> = { wallet: 0, account: 2, client: 9 };

/** Back-off after the first, second … strike beyond the tolerated ones. */
const BACK_OFF_MS = [0.5, 2, 10, 60, 360, 1440].map((minutes) => minutes * MINUTE_MS);

/** Time without a strike after which the count restarts. */
export const STRIKES_KEPT_MS = 7 * 1440 * MINUTE_MS;

/** Back-off after this many strikes. */
export function backOffMs(kind: StrikeKind, strikes: number): number {
  const counted = strikes - tolerated[kind];
  return counted <= 0 ? 0 : (BACK_OFF_MS[Math.min(counted, BACK_OFF_MS.length) - 1] ?? 0);
}

export function strikeSubjects({ authorization, accountId, client = null }: PaymentOrigin): StrikeSubject[] {
  const named = [
    ['wallet', authorization.from],
    ['account', accountId],
    // Loopback is skipped: every client on the node's machine shares it.
    ['client', client === null || isLoopback(client) ? null : (networkOf(client) ?? client)],
  ] as const;
  return named.flatMap(([kind, name]) => (name === null ? [] : [{ kind, subject: `${kind}:${name}` }]));
}
