import {
  invocationReceiptDomain,
  invocationReceiptTypes,
  type PaymentReceipt,
  paymentReceiptDomain,
  paymentReceiptTypes,
} from '@agent-network/contracts/payments/receipt-types';
import type { InvocationReceipt } from '@agent-network/contracts/payments/receipts';
import { structHasher } from './typed-struct.ts';

const hashInvocationReceipt = structHasher('InvocationReceipt', invocationReceiptTypes.InvocationReceipt);
const hashPaymentReceipt = structHasher('Receipt', paymentReceiptTypes.Receipt);

export const invocationReceiptDigest = (chainId: number, receipt: InvocationReceipt) =>
  hashInvocationReceipt(invocationReceiptDomain(chainId), receipt);

export const paymentReceiptDigest = (receipt: PaymentReceipt) =>
  hashPaymentReceipt(paymentReceiptDomain, { ...receipt });
