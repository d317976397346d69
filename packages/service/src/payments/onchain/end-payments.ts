import type { HasDb } from '../../db/database.ts';
import type { Tx } from '../../db/sql.ts';
import { emit } from '../../events/outbox/outbox.ts';
import type { HasClock } from '../../lib/clock.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import { postTransfers } from '../ledger/ledger-store.ts';
import type { NewChainPayment } from './chain-payment.ts';
import { endChainPayments, nowhere, type PaymentEnd, type PaymentPlace } from './chain-payment-store.ts';
import { strike } from './payer-standing.ts';
import { type EndedPayment, paymentEventsOf } from './payment-events.ts';
import { transfersOf } from './payment-transfer.ts';
import type { RefusalReason } from './refusal-reason.ts';

/** Ends payments and emits their events. Returns the ids of those that this call ended, each exactly once. */
export async function endPayments(
  tx: Tx,
  payments: readonly NewChainPayment[],
  ends: readonly PaymentEnd[],
  now: Date,
): Promise<ReadonlySet<string>> {
  const rows = await endChainPayments(tx, ends, now);
  const stateOf = new Map(ends.map(({ id, state }) => [id, state]));
  const ended = payments.flatMap((payment) => {
    const row = rows.get(payment.id);
    const state = stateOf.get(payment.id);
    return row && state ? [{ payment, state, transactionHash: row.transactionHash, createdAt: row.createdAt }] : [];
  });
  await strike(
    tx,
    ended.filter((each) => hasBurntGas(each)).map(({ payment }) => payment),
    now,
  );
  await emit(tx, paymentEventsOf(ended), now);
  return new Set(rows.keys());
}

/** True for another's payment that was sent at our gas cost and reverted. */
const hasBurntGas = ({ payment, state, transactionHash }: EndedPayment): boolean =>
  payment.direction !== 'out' && state === 'failed' && transactionHash !== null;

/** Settles a payment and books what the ledger has of it, in the caller's transaction. False when it had ended before. */
export async function settlePayment(
  tx: Tx,
  payment: NewChainPayment,
  place: PaymentPlace,
  now: Date,
): Promise<boolean> {
  const end = { id: payment.id, state: 'settled' as const, reason: null, ...place };
  const ended = await endPayments(tx, [payment], [end], now);
  if (!ended.has(payment.id)) return false;
  await postTransfers(tx, transfersOf(payment), now);
  return true;
}

/** Fails a payment that moved no money. The caller's additions are committed with it, if this call ended it. */
export async function failPayment(
  ctx: HasDb & HasClock,
  payment: NewChainPayment,
  reason: RefusalReason,
  alongside: (tx: Tx, now: Date) => Promise<void> = async () => undefined,
): Promise<void> {
  const now = ctx.clock.now();
  await ctx.db.transaction(async (tx) => {
    const ended = await endPayments(tx, [payment], [{ id: payment.id, state: 'failed', reason, ...nowhere }], now);
    if (ended.has(payment.id)) await alongside(tx, now);
    failpoint('before-reconcile-commit');
  });
  failpoint('after-reconcile-commit');
}
