import { type NewTransfer, OUTGOING, WALLET } from '../ledger/ledger-store.ts';
import { isFromHome, type NewChainPayment } from './chain-payment.ts';

/**
 * Ledger transfer of a settled payment: incoming money credits its account, an outgoing payment reduces what is owed on chain. A deposit
 * into a channel posts nothing: it is neither an asset nor a debt of the node.
 */
export const transfersOf = (payment: NewChainPayment): NewTransfer[] =>
  payment.direction === 'channel' ? [] : [toTransfer(payment)];

function toTransfer(payment: NewChainPayment): NewTransfer {
  const { purpose, subjectId } = payment;
  if (isFromHome(purpose))
    return {
      id: `${purpose}:${subjectId}`,
      debit: WALLET,
      credit: payment.ledgerAccountId,
      amountMicro: payment.authorization.valueMicro,
      kind: 'bill_return',
      subjectId,
    };
  return payment.direction === 'in'
    ? {
        id: `deposit:${payment.id}`,
        debit: WALLET,
        credit: payment.ledgerAccountId,
        amountMicro: payment.authorization.valueMicro,
        kind: 'deposit',
        subjectId: payment.subjectId,
      }
    : {
        id: `payout:${payment.id}`,
        debit: OUTGOING,
        credit: WALLET,
        amountMicro: payment.authorization.valueMicro,
        kind: 'payout',
        subjectId: payment.subjectId,
      };
}
