import { DAY_MS } from '../../../lib/duration.ts';
import { removeInSteps } from '../../../lib/retention.ts';
import type { Store } from '../../../store/database.ts';
import type { Statement, Tx } from '../../../store/sql.ts';
import type { ChainPayment, NewChainPayment } from '../../chain-outbox/chain-payment.ts';
import {
  findBySubject,
  insertChainPayments,
  newChainPaymentsInserted,
} from '../../chain-outbox/chain-payment-store.ts';
import {
  allPurchaseKeysTaken,
  dropOldPurchaseKeys,
  dropPurchaseKeys,
  type PurchaseKey,
  takePurchaseKeys,
} from './purchase-key-store.ts';

/**
 * Claims payments in the caller's transaction. Returns the ids that are new by authorization, by subject and by every further key of the
 * purchase.
 */
export async function claimPayments(tx: Tx, payments: readonly NewChainPayment[], now: Date): Promise<Set<string>> {
  if (payments.length === 0) return new Set();
  const free = await keepFree(tx, payments, now);
  const claimed = await insertChainPayments(tx, free, now);
  await dropPurchaseKeys(tx, payments.filter(({ id }) => !claimed.has(id)).flatMap(keysOf));
  return claimed;
}

/** Guarded flush statements that claim payments. They fail unless all payments are new and get all of their keys. */
export const paymentsClaimed = (payments: readonly NewChainPayment[], now: Date): Statement[] => [
  ...keysTaken(payments, now),
  newChainPaymentsInserted(payments, now),
];

/** Guarded flush statements that take purchase keys. They fail unless each payment gets all of its keys; no two payments may share one. */
export function keysTaken(takers: readonly KeyTaker[], now: Date): Statement[] {
  const wanted = takers.flatMap(keysOf);
  return wanted.length === 0 ? [] : [allPurchaseKeysTaken(wanted, now)];
}

/** The payments that now hold all of their further keys; most have none. */
async function keepFree(tx: Tx, payments: readonly NewChainPayment[], now: Date): Promise<NewChainPayment[]> {
  const kept = await takeKeys(tx, payments, now);
  return payments.filter(({ id }) => kept.has(id));
}

/** The holder of a purchase's keys: a payment, or a request that a voucher pays for. */
interface KeyTaker {
  readonly id: string;
  readonly accountId: string | null;
  readonly purchaseKeys?: readonly string[];
}

const keysOf = ({ id: paymentId, accountId, purchaseKeys = [] }: KeyTaker): PurchaseKey[] =>
  accountId === null ? [] : purchaseKeys.map((key) => ({ accountId, key, paymentId }));

/** Takes further keys of purchases in the caller's transaction; returns the ids that hold all of theirs. */
export async function takeKeys(tx: Tx, takers: readonly KeyTaker[], now: Date): Promise<Set<string>> {
  const seen = new Set<string>();
  const wanted = takers.flatMap(keysOf).filter(({ accountId, key }) => {
    // The first of two concurrent payments with one key gets it.
    const name = `${accountId} ${key}`;
    const isFirst = !seen.has(name);
    seen.add(name);
    return isFirst;
  });
  if (wanted.length === 0) return new Set(takers.map(({ id }) => id));
  const taken = await takePurchaseKeys(tx, wanted, now);
  const isTaken = (paymentId: string, key: string) => taken.some((t) => t.paymentId === paymentId && t.key === key);
  const kept = takers.filter(({ id, purchaseKeys = [] }) => purchaseKeys.every((key) => isTaken(id, key)));
  return new Set(kept.map(({ id }) => id));
}

/** The x402 payment of a request, in any state. */
export const paymentOf = (ctx: Store, requestId: string): Promise<ChainPayment | null> =>
  findBySubject(ctx.db, requestId, 'invocation');

/** Longer than the lifetime of any Idempotency-Key or offer. */
const PURCHASE_KEYS_KEPT_MS = 30 * DAY_MS;

export const forgetOldPurchases = (ctx: Store): Promise<void> =>
  removeInSteps((most) =>
    dropOldPurchaseKeys(ctx.db, new Date(ctx.clock.now().getTime() - PURCHASE_KEYS_KEPT_MS), most),
  );
