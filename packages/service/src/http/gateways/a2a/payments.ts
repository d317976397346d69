import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import type { SettleResponse } from '@agent-network/contracts/payments/x402';
import { decodePayment } from '../../../payments/x402/payment-header.ts';

/** The extension for payments with x402 on a task, newest version first. */
export const X402_EXTENSIONS = [
  'https://github.com/google-agentic-commerce/a2a-x402/blob/main/spec/v0.2',
  'https://github.com/google-a2a/a2a-x402/v0.1',
] as const;

const STATUS = 'x402.payment.status';
const PAYLOAD = 'x402.payment.payload';
const REQUIRED = 'x402.payment.required';
const RECEIPTS = 'x402.payment.receipts';
const ERROR = 'x402.payment.error';

type Metadata = Readonly<Record<string, unknown>>;

/** The payment step in a client's message. */
export type PaymentStep =
  | { readonly kind: 'none' }
  | { readonly kind: 'rejected' }
  | { readonly kind: 'submitted'; readonly payload: unknown };

/** Throws VALIDATION_ERROR for a payload in text that cannot be decoded. */
export function paymentStepOf(metadata: Metadata = {}): PaymentStep {
  const status = metadata[STATUS];
  if (status === 'payment-rejected') return { kind: 'rejected' };
  if (status !== 'payment-submitted') return { kind: 'none' };
  const payload = metadata[PAYLOAD] ?? null;
  return { kind: 'submitted', payload: typeof payload === 'string' ? decodePayment(PAYLOAD, payload) : payload };
}

/** Metadata of a message without the parts meant for this node. */
export const withoutPayment = (metadata: Metadata): Record<string, unknown> =>
  Object.fromEntries(Object.entries(metadata).filter(([name]) => !name.startsWith('x402.payment.')));

type PaidRecord = Pick<RequestRecord, 'status'> &
  Partial<Pick<RequestRecord, 'paymentMethod' | 'paymentHash' | 'error'>>;

/** Metadata of the status of a task that was paid on chain with x402; null: it was paid otherwise, or is not settled. */
export function paidMetadata(
  { status, paymentMethod, paymentHash, error }: PaidRecord,
  { settlement, network }: { readonly settlement?: SettleResponse | null | undefined; readonly network: string },
): Metadata | null {
  if (status === 'failed' && error?.code === 'payment_failed')
    return {
      [STATUS]: 'payment-failed',
      [ERROR]: 'SETTLEMENT_FAILED',
      [RECEIPTS]: [failedReceipt(network, error.message)],
    };
  if (settlement) return { [STATUS]: 'payment-completed', [RECEIPTS]: [{ ...settlement, network }] };
  if (paymentMethod !== 'x402' || !paymentHash) return null;
  return { [STATUS]: 'payment-completed', [RECEIPTS]: [{ success: true, transaction: paymentHash, network }] };
}

const failedReceipt = (network: string, errorReason: string): SettleResponse => ({
  ...{ success: false, errorReason, network, transaction: '' },
});

/** Metadata of the status of a task that waits for its payment. */
export const requiredMetadata = (required: unknown, reason: string | null, network: string): Metadata =>
  reason === null
    ? { [STATUS]: 'payment-required', [REQUIRED]: required }
    : {
        [STATUS]: 'payment-failed',
        [ERROR]: errorCodeOf(reason),
        [REQUIRED]: required,
        [RECEIPTS]: [failedReceipt(network, reason)],
      };

export const rejectedMetadata: Metadata = { [STATUS]: 'payment-rejected' };

/** Codes of the extension for refused payments, by a pattern of the reason's name. */
const codes: readonly (readonly [RegExp, string])[] = [
  [/insufficient_balance|exceeds_balance/, 'INSUFFICIENT_FUNDS'],
  [/signature/, 'INVALID_SIGNATURE'],
  [/valid_before|valid_after|invalid_offer/, 'EXPIRED_PAYMENT'],
  [/nonce/, 'DUPLICATE_NONCE'],
  [/network/, 'NETWORK_MISMATCH'],
  [/value_mismatch|amount/, 'INVALID_AMOUNT'],
];

export const errorCodeOf = (reason: string): string =>
  codes.find(([pattern]) => pattern.test(reason))?.[1] ?? 'SETTLEMENT_FAILED';
