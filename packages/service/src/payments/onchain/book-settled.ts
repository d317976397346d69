import type { LockMode } from '../../db/lock-free.ts';
import type { Tx } from '../../db/sql.ts';
import { invariant } from '../../lib/invariant.ts';
import { holdMoney } from '../ledger/hold-money.ts';
import { lockFreeAccounts, postTransfers } from '../ledger/ledger-store.ts';
import type { NewChainPayment } from './chain-payment.ts';
import { transfersOf } from './payment-transfer.ts';
import type { HasPurchases } from './purchases.ts';

export interface SettledPayment {
  readonly payment: NewChainPayment;
  readonly transactionHash: string | null;
}

/**
 * Books settlements in the transaction that records them: the requests that they pay for begin, the money comes in and is held for them. All
 * or nothing, whoever records it, so a payment that came in never lies unheld in the account of its wallet.
 */
export async function bookSettled(
  { purchases }: HasPurchases,
  tx: Tx,
  settled: readonly SettledPayment[],
  { now, locks = 'wait' }: { readonly now: Date; readonly locks?: LockMode },
): Promise<void> {
  if (settled.length === 0) return;
  const paid = settled.flatMap(({ payment, transactionHash }) =>
    payment.purpose === 'invocation' ? [{ requestId: payment.subjectId, paymentHash: transactionHash }] : [],
  );
  const holds = paid.length === 0 ? [] : await purchases.begin(tx, paid, now);
  const transfers = settled.flatMap(({ payment }) => transfersOf(payment));
  const credited = transfers.map(({ credit }) => credit);
  const [, , held] = await Promise.all([
    locks === 'skip' ? lockFreeAccounts(tx, credited) : null,
    postTransfers(tx, transfers, now, locks),
    holdMoney(tx, holds, now, locks),
  ]);
  invariant(
    held.every(({ isHeld }) => isHeld),
    'a payment covers the hold of its request',
  );
}
