import type { HasMetrics } from '../../lib/metrics.ts';
import { type PaymentHeaders, readPaymentHeader, type Shown } from './payment-header.ts';

/** What a client shows in a payment header; null: nothing. Throws VALIDATION_ERROR (400) when it is malformed, which is counted. */
export const shownPayment = ({ metrics }: HasMetrics, headers: PaymentHeaders): Shown | null =>
  readPaymentHeader(headers, () => metrics.channelRefusals.inc({ reason: 'malformed' }));
