import { formatUsdc } from '@agent-network/contracts/money';
import type { Withdrawal } from '@agent-network/contracts/payments/payments';
import type { ChainPayment } from './chain-payment.ts';
import type { ChainPaymentState } from './chain-payment-state.ts';
import type { Hold } from './held-payout-store.ts';

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
