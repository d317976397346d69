import { formatUsdc } from '@agent-network/contracts/money';
import type { CreditedDeposits, Payment, Withdrawal } from '@agent-network/contracts/payments/payments';
import type { NewEvent } from '../../events/outbox/new-event.ts';
import type { ChainPayment, ChainPurpose, NewChainPayment } from './chain-payment.ts';
import type { ChainPaymentState } from './chain-payment-state.ts';
import type { Hold } from './held-payout-store.ts';

/** The end of a payment, with its creation time. */
export interface EndedPayment {
  readonly payment: NewChainPayment;
  readonly state: 'settled' | 'failed' | 'reversed';
  readonly transactionHash: string | null;
  readonly createdAt: Date;
}

/** Type of a payment in events. Null: a deposit into a channel has an event of the channel instead. */
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

/** Maximum unannounced deposits of an account that get an event each. */
const TOLD_SINGLY = 20;

/**
 * Events of ended payments: incoming ones that settled or failed, and refunds and withdrawals that settled. Many plain deposits of one
 * account that settle together get one event, as a block may have thousands.
 */
export function paymentEventsOf(ended: readonly EndedPayment[]): NewEvent[] {
  const ofAccount = Map.groupBy(ended.filter(isUnannounced), ({ payment }) => payment.ledgerAccountId);
  const many = [...ofAccount.values()].filter((deposits) => deposits.length > TOLD_SINGLY);
  const isTold = new Set(many.flat());
  return [...many.flatMap(summaryOf), ...singleEventsOf(ended.filter((each) => !isTold.has(each)))];
}

/** True for a settled deposit that no request asked for. */
const isUnannounced = ({ payment, state }: EndedPayment): boolean =>
  payment.purpose === 'deposit' && payment.authorization.validBeforeS === 0n && state === 'settled';

function summaryOf(deposits: readonly EndedPayment[]): NewEvent[] {
  const [first, last] = [deposits[0], deposits.at(-1)];
  if (!first || !last || first.payment.accountId === null) return [];
  const { accountId, ledgerAccountId } = first.payment;
  const data: CreditedDeposits = {
    treasuryId: ledgerAccountId,
    count: deposits.length,
    amount: formatUsdc(deposits.reduce((sum, { payment }) => sum + payment.authorization.valueMicro, 0n)),
    firstPaymentId: first.payment.id,
    lastPaymentId: last.payment.id,
    createdAt: first.createdAt.toISOString(),
  };
  return [{ type: 'deposits.confirmed', accountId, subjectId: ledgerAccountId, data }];
}

function singleEventsOf(ended: readonly EndedPayment[]): NewEvent[] {
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

const statusOf: Record<ChainPaymentState, Withdrawal['status']> = {
  claimed: 'pending',
  broadcasting: 'pending',
  settled: 'confirmed',
  failed: 'failed',
  reversed: 'failed',
};

const heldOf = ({ id: paymentId }: Pick<ChainPayment, 'id'>, { reason, heldAt, nextTryAt }: Hold) => ({
  ...{ paymentId, reason },
  since: heldAt.toISOString(),
  nextTryAt: nextTryAt.toISOString(),
});

type Shown = Pick<
  ChainPayment,
  'id' | 'subjectId' | 'state' | 'authorization' | 'ledgerAccountId' | 'transactionHash' | 'createdAt'
>;

export const toWithdrawal = (payment: Shown, hold: Hold | null = null): Withdrawal => ({
  withdrawalId: payment.subjectId,
  status: statusOf[payment.state],
  amount: formatUsdc(payment.authorization.valueMicro),
  to: payment.authorization.to,
  transactionHash: payment.transactionHash,
  treasuryId: payment.ledgerAccountId,
  ...(hold && { held: heldOf(payment, hold) }),
  createdAt: payment.createdAt.toISOString(),
});
