import { openHashesOfNonce } from '../../chain/transaction-store.ts';
import { emit } from '../../events/outbox/outbox.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import type { Store } from '../../store/database.ts';
import type { LockMode } from '../../store/lock-free.ts';
import type { Tx } from '../../store/sql.ts';
import { postTransfers } from '../ledger/ledger-store.ts';
import { strike } from '../schemes/exact/payer-status.ts';
import { bookSettled, transfersOf } from './book-settled.ts';
import type { NewChainPayment } from './chain-payment.ts';
import {
  endChainPayments,
  lockPaymentStatus,
  nowhere,
  type PaymentEnd,
  type PaymentPlace,
  type PaymentStatus,
} from './chain-payment-store.ts';
import { type EndedPayment, paymentEventsOf } from './payment-events.ts';
import type { Purchases } from './purchases.ts';
import type { RefusalReason } from './refusal-reason.ts';

/**
 * Ends payments and emits their events. Returns the ids of those that this call ended, each exactly once; `book` books them, and is sent to
 * the database together with the events.
 */
export async function endPayments(
  tx: Tx,
  payments: readonly NewChainPayment[],
  ends: readonly PaymentEnd[],
  now: Date,
  book: (endedIds: ReadonlySet<string>) => Promise<void> = async () => undefined,
): Promise<ReadonlySet<string>> {
  const rows = await endChainPayments(tx, ends, now);
  const stateOf = new Map(ends.map(({ id, state }) => [id, state]));
  const ended = payments.flatMap((payment) => {
    const row = rows.get(payment.id);
    const state = stateOf.get(payment.id);
    return row && state ? [{ payment, state, transactionHash: row.transactionHash, createdAt: row.createdAt }] : [];
  });
  const expiredIds = new Set(ends.filter(({ reason }) => reason === EXPIRED).map(({ id }) => id));
  await strike(
    tx,
    ended
      .filter((each) => hasBurntGas(each) && !(expiredIds.has(each.payment.id) && hadTime(each)))
      .map(({ payment }) => payment),
    now,
  );
  const endedIds = new Set(rows.keys());
  await Promise.all([emit(tx, paymentEventsOf(ended), now), book(endedIds)]);
  return endedIds;
}

const EXPIRED: RefusalReason = 'invalid_exact_evm_payload_authorization_valid_before';
/** Far longer than a block. Stock clients sign for 120 s and more. */
const TIME_ENOUGH_S = 60n;

/** True if a payment was valid long enough to be mined; one that expired then was delayed by the chain or this node, not by its payer. */
const hadTime = ({ payment, createdAt }: EndedPayment): boolean =>
  payment.authorization.validBeforeS - BigInt(Math.floor(createdAt.getTime() / 1000)) >= TIME_ENOUGH_S;

/** True for another's payment that was sent at our gas cost and reverted. */
const hasBurntGas = ({ payment, state, transactionHash }: EndedPayment): boolean =>
  payment.direction !== 'out' && state === 'failed' && transactionHash !== null;

/**
 * Settles a payment and books it in the ledger, in the caller's transaction; `purchases` starts the calls that it pays for. Returns false
 * if the payment had already ended. With `isLate`, a failed payment is settled too, and starts nothing. Throws HeldUpError with `locks`
 * `skip` when another transaction has locked an account that it needs.
 */
export async function settlePayment(
  tx: Tx,
  payment: NewChainPayment,
  place: PaymentPlace,
  now: Date,
  { isLate = false, purchases, locks = 'wait' }: { isLate?: boolean; purchases?: Purchases; locks?: LockMode } = {},
): Promise<boolean> {
  const end = { id: payment.id, state: 'settled' as const, reason: null, isLate, ...place };
  const ended = await endPayments(tx, [payment], [end], now, async (endedIds) => {
    if (!endedIds.has(payment.id)) return;
    if (purchases)
      await bookSettled({ purchases }, tx, [{ payment, transactionHash: place.transactionHash }], { now, locks });
    else await postTransfers(tx, transfersOf(payment), now);
  });
  return ended.has(payment.id);
}

interface FailOptions {
  /** Additions that are committed with the failure, if this call ended the payment. */
  readonly alongside?: (tx: Tx, now: Date) => Promise<void>;
  /** Called with the payment locked; true if the caller's proof that no money can move is still valid. Default: always. */
  readonly isStill?: (tx: Tx, status: PaymentStatus) => boolean | Promise<boolean>;
}

/** Fails a payment that moved no money. Returns false if it was left unchanged. */
export async function failPayment(
  ctx: Store,
  payment: NewChainPayment,
  reason: RefusalReason,
  { alongside, isStill }: FailOptions = {},
): Promise<boolean> {
  const now = ctx.clock.now();
  const hasFailed = await ctx.db.transaction(async (tx) => {
    const status = isStill && (await lockPaymentStatus(tx, payment.id));
    if (isStill && !(status && (await isStill(tx, status)))) return false;
    const ended = await endPayments(tx, [payment], [{ id: payment.id, state: 'failed', reason, ...nowhere }], now);
    if (ended.has(payment.id)) await alongside?.(tx, now);
    failpoint('before-reconcile-commit');
    return ended.has(payment.id);
  });
  failpoint('after-reconcile-commit');
  return hasFailed;
}

/**
 * Fails a payment that the token refuses. False while a transaction that may still be mined carries it: the token also refuses what that
 * transaction is about to move.
 */
export const failRefused = (ctx: Store, payment: NewChainPayment, reason: RefusalReason): Promise<boolean> =>
  failPayment(ctx, payment, reason, {
    isStill: async (tx, { transactionHash }) =>
      transactionHash === null || (await openHashesOfNonce(tx, transactionHash)).length === 0,
  });
