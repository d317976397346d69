import type { Authorization } from '../../../chain/keys/authorization.ts';
import { AppError } from '../../../lib/app-error.ts';
import { createBatcher } from '../../../lib/concurrency/batcher.ts';
import { MINUTE_MS } from '../../../lib/duration.ts';
import { networkOf } from '../../../lib/net/address-ranges.ts';
import { isLoopback } from '../../../lib/net/guarded-fetch-address.ts';
import { removeInSteps } from '../../../lib/retention.ts';
import type { Store } from '../../../store/database.ts';
import type { Tx } from '../../../store/sql.ts';
import { addStrikes, dropOldStrikes, listRefused, type Refused, writeRefused } from './payer-strike-store.ts';

/** Back-off check of payers: wallet, account and network address. */
export interface PayerStatus {
  /** Throws RATE_LIMITED while one of them is in back-off for payments that cost the node gas and moved nothing. */
  require(payment: PaymentOrigin): Promise<void>;
}

const MAX_FOUND = 200;

export function createPayerStatus(ctx: Store): PayerStatus {
  const finder = createBatcher<PaymentOrigin, Refused | null>({
    maxSize: MAX_FOUND,
    async run(payments) {
      const subjects = payments.map((payment) => strikeSubjects(payment).map(({ subject }) => subject));
      const refused = await listRefused(ctx.db, [...new Set(subjects.flat())], ctx.clock.now());
      const latest = refused.toSorted((a, b) => b.until.getTime() - a.until.getTime());
      return subjects.map((own) => latest.find(({ subject }) => own.includes(subject)) ?? null);
    },
  });
  return {
    async require(payment) {
      const refused = await finder.add(payment);
      if (!refused) return;
      const kind = refused.subject.split(':')[0] as StrikeKind;
      const leftS = Math.ceil((refused.until.getTime() - ctx.clock.now().getTime()) / 1000);
      throw new AppError(
        'RATE_LIMITED',
        `Payments of this ${names[kind]} were sent to the chain and reverted. Further ones are refused for a while; pay from a treasury meanwhile.`,
        { details: { limit: 0, type: 'failed_payments', retryAfterS: Math.max(1, leftS) } },
      );
    },
  };
}

const names: Record<StrikeKind, string> = { wallet: 'wallet', account: 'account', client: 'network address' };

/** True if the payer has come into back-off since the payment was accepted. */
export async function isRefusedNow(ctx: Store, payment: PaymentOrigin): Promise<boolean> {
  const subjects = strikeSubjects(payment).map(({ subject }) => subject);
  return (await listRefused(ctx.db, subjects, ctx.clock.now())).length > 0;
}

/**
 * Counts payments that were sent and moved nothing, in the transaction that records the failure, against wallet, account and network
 * address. Each further strike lengthens the back-off.
 */
export async function strike(tx: Tx, payments: readonly PaymentOrigin[], now: Date): Promise<void> {
  const subjects = payments.flatMap(strikeSubjects);
  if (subjects.length === 0) return;
  const counted = await addStrikes(
    tx,
    subjects.map(({ subject }) => subject),
    { now, forgottenBefore: new Date(now.getTime() - STRIKES_KEPT_MS) },
  );
  const kindOf = new Map(subjects.map(({ subject, kind }) => [subject, kind]));
  const refused = counted.flatMap(({ subject, strikes }) => {
    const ms = backOffMs(kindOf.get(subject) ?? 'client', strikes);
    return ms === 0 ? [] : [{ subject, until: new Date(now.getTime() + ms) }];
  });
  if (refused.length > 0) await writeRefused(tx, refused);
}

export const forgetOldStrikes = (ctx: Store): Promise<void> =>
  removeInSteps((most) => dropOldStrikes(ctx.db, new Date(ctx.clock.now().getTime() - STRIKES_KEPT_MS), most));

/** Origin of a payment: the wallet, with the account and network address that presented it; null: none. */
interface PaymentOrigin {
  readonly authorization: Pick<Authorization, 'from'>;
  readonly accountId: string | null;
  readonly client?: string | null;
}

/** Kind of subject that a payment which cost gas and moved nothing is counted against. */
type StrikeKind = 'wallet' | 'account' | 'client';

interface StrikeSubject {
  readonly kind: StrikeKind;
  /** The stored value. */
  readonly subject: string;
}

/** Number of strikes without consequence: an account may have several wallets, and many accounts share a network address. */
const tolerated: Record<StrikeKind, number> = { wallet: 0, account: 2, client: 9 };

/** Back-off after the first, second … strike beyond the tolerated ones. */
const BACK_OFF_MS = [0.5, 2, 10, 60, 360, 1440].map((minutes) => minutes * MINUTE_MS);

/** Time without a strike after which the count restarts. */
const STRIKES_KEPT_MS = 7 * 1440 * MINUTE_MS;

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
