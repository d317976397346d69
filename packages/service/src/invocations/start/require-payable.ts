import type { InvocationRequest } from '@agent-network/contracts/invocations/invocations';
import { formatUsdc, parseUsdc } from '@agent-network/contracts/money';
import type { KnownCaller } from '../../access/caller/caller.ts';
import { AppError, invalid } from '../../lib/app-error.ts';
import type { HasPaymentLimits } from '../../payments/onchain/payment-limits.ts';

/** Throws for a price below the minimum that justifies the gas of an on-chain payment. */
export function requirePayable({ paymentLimits }: HasPaymentLimits, caller: KnownCaller, priceMicro: bigint): void {
  const { minPaymentMicro } = paymentLimits;
  if (priceMicro >= minPaymentMicro) return;
  const least = formatUsdc(minPaymentMicro);
  throw insufficient(caller, priceMicro, 0n, `Prices below ${least} USDC are paid from a treasury, not on chain.`);
}

export function insufficient(
  caller: KnownCaller,
  requiredMicro: bigint,
  availableMicro: bigint,
  message?: string,
): AppError {
  const details = { required: formatUsdc(requiredMicro), available: formatUsdc(availableMicro) };
  return caller.kind === 'agent'
    ? new AppError(
        'INSUFFICIENT_BALANCE',
        message ?? "The agent's treasury balance is below the cost: deposit into it.",
        { details },
      )
    : new AppError(
        'INSUFFICIENT_FUNDS',
        message ?? 'The treasury balance is below the cost: deposit, or pay the call with x402.',
        { details },
      );
}

/** Throws VALIDATION_ERROR for a price above the most that the caller pays. */
export function requireAffordable(body: InvocationRequest, priceMicro: bigint): void {
  if (body.maxCost !== undefined && parseUsdc(body.maxCost) < priceMicro)
    throw invalid('maxCost', `is below the price of ${formatUsdc(priceMicro)} USDC`);
}
