import type { HasMetrics } from '../../lib/metrics.ts';
import { type PaymentHeaders, readPaymentHeader, type Shown } from './payment-header.ts';

/** Reads the payment header of a client; null: none. Throws VALIDATION_ERROR (400) when it is malformed, which is counted. */
export const shownPayment = ({ metrics }: HasMetrics, headers: PaymentHeaders): Shown | null =>
  readPaymentHeader(headers, () => metrics.channelRefusals.inc({ reason: 'malformed' }));
