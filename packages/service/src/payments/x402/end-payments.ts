import type { Tx } from '../../db/sql.ts';
import { emit } from '../../events/outbox.ts';
import type { NewChainPayment } from './chain-payment.ts';
import { endChainPayments, type PaymentEnd } from './chain-payment-store.ts';
import { paymentEventsOf } from './payment-events.ts';

/** Ends payments and tells of it. Returns the ids of those that this call ended, each exactly once. */
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
  await emit(tx, paymentEventsOf(ended), now);
  return new Set(rows.keys());
}
