import { formatUsdc } from '@agent-network/contracts/money';
import type { Payment } from '@agent-network/contracts/payments/payments';
import type { NewEvent } from '../../events/outbox/new-event.ts';
import type { ChainPurpose, NewChainPayment } from './chain-payment.ts';
import { toWithdrawal } from './withdrawal-view.ts';

/** The end of a payment, with its creation time. */
export interface EndedPayment {
  readonly payment: NewChainPayment;
  readonly state: 'settled' | 'failed' | 'reversed';
  readonly transactionHash: string | null;
  readonly createdAt: Date;
}

/** Type of a payment in events; null: a deposit into a channel is told by the channel. */
const typeOf: Record<ChainPurpose, Payment['type'] | null> = {
  deposit: 'deposit',
  invocation: 'x402',
  refund: 'refund',
  withdrawal: 'withdrawal',
  bill: 'charge',
  return: 'refund',
  second_return: 'refund',
  home_refund: 'refund',
  home_return: 'refund',
  channel_deposit: null,
};

/** Events of ended payments: incoming ones that settled or failed, and refunds and withdrawals that settled. */
export function paymentEventsOf(ended: readonly EndedPayment[]): NewEvent[] {
  return ended.flatMap(({ payment, state, transactionHash, createdAt }): NewEvent[] => {
    const { id, accountId, purpose, direction, subjectId } = payment;
    if (purpose === 'withdrawal' && state === 'settled' && accountId !== null) {
      const withdrawal = toWithdrawal({ ...payment, state, transactionHash, createdAt });
      return [{ type: 'withdrawal.confirmed', accountId, subjectId, data: withdrawal }];
    }
    const type = typeOf[purpose];
    const isRefund = type === 'refund';
    if (type === null || accountId === null || (direction === 'out' && !(isRefund && state === 'settled'))) return [];
    const data: Payment = {
      paymentId: id,
      type,
      amount: formatUsdc(payment.authorization.valueMicro),
      status: state === 'settled' ? 'confirmed' : 'failed',
      requestId: purpose === 'deposit' ? null : subjectId,
      transactionHash,
      createdAt: createdAt.toISOString(),
    };
    const told = state !== 'settled' ? 'payment.failed' : isRefund ? 'payment.refunded' : 'payment.confirmed';
    return [{ type: told, accountId, subjectId: id, data }];
  });
}
