import { type InvocationReceipt, type SignedReceipt, verifyReceipt } from '@agent-network/sdk';
import type { ReceiptParts } from './receipt-parts.ts';

/** The SDK's check, made in this browser. Loaded when it is first asked for: it brings hashes and signatures along. */
export const verifyHere = (
  receipt: SignedReceipt,
  expected: ReceiptParts & { readonly wallet: string; readonly chainId: number; readonly requestId: string },
): Promise<InvocationReceipt> => verifyReceipt(receipt, expected);
