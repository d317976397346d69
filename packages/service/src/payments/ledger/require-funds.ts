import { formatUsdc } from '@agent-network/contracts/money';
import { AppError } from '../../lib/app-error.ts';

/** Throws the error of this code, with both figures, when less is available than requested. In micro-USDC. */
export function requireFunds(
  availableMicro: bigint,
  amountMicro: bigint,
  message: string,
  code: 'INSUFFICIENT_FUNDS' | 'INSUFFICIENT_BALANCE' = 'INSUFFICIENT_FUNDS',
): void {
  if (availableMicro >= amountMicro) return;
  throw new AppError(code, message, {
    details: { required: formatUsdc(amountMicro), available: formatUsdc(availableMicro) },
  });
}
