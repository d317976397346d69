import { formatUsdc } from '@agent-network/contracts/money';
import type { PaymentLimits } from '../config-payments.ts';

export interface HasPaymentLimits {
  readonly paymentLimits: PaymentLimits;
}

/** Why an amount is too small to be moved on chain; null when it is not. */
export const belowMinimum = (amountMicro: bigint, minMicro: bigint): string | null =>
  amountMicro < minMicro ? `must be at least ${formatUsdc(minMicro)} USDC` : null;
