import {
  invocationReceiptDomain,
  invocationReceiptTypes,
  type PaymentReceipt,
  paymentReceiptDomain,
  paymentReceiptTypes,
} from '@agent-network/contracts/payments/receipt-types';
import type { InvocationReceipt } from '@agent-network/contracts/payments/receipts';
import { structHasher } from './typed-struct.ts';

const hashInvocationReceipt = structHasher(
  'InvocationReceipt',
  invocationReceiptTypes.InvocationReceipt,
  invocationReceiptDomain,
);
const hashPaymentReceipt = structHasher('Receipt', paymentReceiptTypes.Receipt, () => paymentReceiptDomain);

export const invocationReceiptDigest = (chainId: number, receipt: InvocationReceipt) =>
  hashInvocationReceipt(chainId, receipt);

export const paymentReceiptDigest = (receipt: PaymentReceipt) =>
  hashPaymentReceipt(paymentReceiptDomain.chainId, { ...receipt });
