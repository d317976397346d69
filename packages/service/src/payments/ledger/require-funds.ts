import { formatUsdc } from '@agent-network/contracts/money';
import { AppError } from '../../lib/app-error.ts';

/** Throws INSUFFICIENT_FUNDS, with both figures, when less is available than requested. In micro-USDC. */
export function requireFunds(availableMicro: bigint, amountMicro: bigint, message: string): void {
  if (availableMicro >= amountMicro) return;
  throw new AppError('INSUFFICIENT_FUNDS', message, {
    details: { required: formatUsdc(amountMicro), available: formatUsdc(availableMicro) },
  });
}
