import type { Sql } from '../../db/sql.ts';
import { OUTGOING, postTransfers } from '../ledger/ledger-store.ts';
import type { ChainPayment } from '../onchain/chain-payment.ts';

/** Credits a withdrawal that can never be paid back to its treasury, in the transaction that records the failure. */
export async function returnWithdrawal(tx: Sql, payment: ChainPayment, now: Date): Promise<void> {
  const { subjectId, ledgerAccountId, authorization } = payment;
  const amountMicro = authorization.valueMicro;
  const id = `return:${subjectId}`;
  await postTransfers(
    tx,
    [{ id, debit: OUTGOING, credit: ledgerAccountId, amountMicro, kind: 'return', subjectId }],
    now,
  );
}
