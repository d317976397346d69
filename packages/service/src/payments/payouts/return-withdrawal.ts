import type { Sql } from '../../db/sql.ts';
import { OUTGOING, postTransfers } from '../ledger/ledger-store.ts';
import type { ChainPayment } from '../onchain/chain-payment.ts';

/** Puts a withdrawal that can never leave any more back into its treasury, in the transaction that records that. */
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
