import { invariant } from '../../lib/invariant.ts';
import type { LockMode } from '../../store/lock-free.ts';
import type { Tx } from '../../store/sql.ts';
import { inAssetOf } from '../ledger/asset-account.ts';
import { holdMoney } from '../ledger/hold-money.ts';
import { lockFreeAccounts, type NewTransfer, OUTGOING, postTransfers, WALLET } from '../ledger/ledger-store.ts';
import { isFromHome, type NewChainPayment } from './chain-payment.ts';
import type { Purchases } from './purchases.ts';

export interface SettledPayment {
  readonly payment: NewChainPayment;
  readonly transactionHash: string | null;
}

/**
 * Books settlements in the transaction that records them: begins their requests, credits the money and holds it for them. All or nothing,
 * for every caller, so incoming money never lies unheld in the account of its wallet.
 */
export async function bookSettled(
  { purchases }: { readonly purchases: Purchases },
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

/**
 * Ledger transfer of a settled payment: an incoming one credits its account, an outgoing one reduces the debt on chain. A deposit into a
 * channel posts nothing: it is neither an asset nor a debt of the node.
 */
export const transfersOf = (payment: NewChainPayment): NewTransfer[] =>
  payment.direction === 'channel' ? [] : [toTransfer(payment)];

function toTransfer(payment: NewChainPayment): NewTransfer {
  const { purpose, subjectId, ledgerAccountId } = payment;
  const wallet = inAssetOf(ledgerAccountId, WALLET);
  if (isFromHome(purpose))
    return {
      id: `${purpose}:${subjectId}`,
      debit: wallet,
      credit: ledgerAccountId,
      amountMicro: payment.authorization.valueMicro,
      kind: 'bill_return',
      subjectId,
    };
  return payment.direction === 'in'
    ? {
        id: `deposit:${payment.id}`,
        debit: wallet,
        credit: ledgerAccountId,
        amountMicro: payment.authorization.valueMicro,
        kind: 'deposit',
        subjectId: payment.subjectId,
      }
    : {
        id: `payout:${payment.id}`,
        debit: inAssetOf(ledgerAccountId, OUTGOING),
        credit: wallet,
        amountMicro: payment.authorization.valueMicro,
        kind: 'payout',
        subjectId: payment.subjectId,
      };
}
