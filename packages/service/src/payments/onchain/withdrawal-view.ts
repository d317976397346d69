import { formatUsdc } from '@agent-network/contracts/money';
import type { Withdrawal } from '@agent-network/contracts/payments/payments';
import type { ChainPayment } from './chain-payment.ts';
import type { ChainPaymentState } from './chain-payment-state.ts';

const statusOf: Record<ChainPaymentState, Withdrawal['status']> = {
  claimed: 'pending',
  broadcasting: 'pending',
  settled: 'confirmed',
  failed: 'failed',
  reversed: 'failed',
};

type Shown = Pick<
  ChainPayment,
  'subjectId' | 'state' | 'authorization' | 'ledgerAccountId' | 'transactionHash' | 'createdAt'
>;

export const toWithdrawal = (payment: Shown): Withdrawal => ({
  withdrawalId: payment.subjectId,
  status: statusOf[payment.state],
  amount: formatUsdc(payment.authorization.valueMicro),
  to: payment.authorization.to,
  transactionHash: payment.transactionHash,
  treasuryId: payment.ledgerAccountId,
  createdAt: payment.createdAt.toISOString(),
});
