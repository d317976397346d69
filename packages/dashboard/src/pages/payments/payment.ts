import type { PaymentItem, paymentTypes } from '@agent-network/contracts/payments/payments';
import type { CsvColumn } from '../../app/export/csv.ts';

export type PaymentType = (typeof paymentTypes)[number];

/** Label of each payment type. */
export const paymentTexts: Readonly<Record<PaymentType, string>> = {
  deposit: 'Deposit',
  charge: 'Call, from treasury',
  earning: 'Earning',
  refund: 'Refund',
  x402: 'Call, from wallet',
  withdrawal: 'Withdrawal',
};

const signs: Readonly<Record<PaymentType, '+' | '−'>> = {
  deposit: '+',
  earning: '+',
  refund: '+',
  charge: '−',
  x402: '−',
  withdrawal: '−',
};

/** Direction of a payment: in or out; null: it failed, and nothing moved. */
export const signOf = ({ type, status }: Pick<PaymentItem, 'type' | 'status'>): '+' | '−' | null =>
  status === 'failed' ? null : signs[type];

const directions = { '+': 'in', '−': 'out', '': null } as const;

/** The history as a file has it: what the API says, and the name of the treasury. */
export const paymentCsv = (treasuryName: (id: string | null) => string | null): readonly CsvColumn<PaymentItem>[] => [
  ['createdAt', (row) => row.createdAt],
  ['type', (row) => row.type],
  ['status', (row) => row.status],
  ['direction', (row) => directions[signOf(row) ?? '']],
  ['amount', (row) => row.amount],
  ['fee', (row) => row.fee],
  ['currency', () => 'USDC'],
  ['treasury', (row) => treasuryName(row.treasuryId)],
  ['treasuryId', (row) => row.treasuryId],
  ['counterparty', (row) => row.counterparty],
  ['counterpartyName', (row) => row.counterpartyName],
  ['requestId', (row) => row.requestId],
  ['withdrawalId', (row) => row.withdrawalId],
  ['transactionHash', (row) => row.transactionHash],
  ['paymentId', (row) => row.paymentId],
];
