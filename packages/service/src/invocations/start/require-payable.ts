import type { InvocationRequest } from '@agent-network/contracts/invocations/invocations';
import { formatUsdc, parseUsdc } from '@agent-network/contracts/money';
import type { KnownCaller } from '../../access/caller/caller.ts';
import type { HasDb } from '../../db/database.ts';
import { AppError, invalid } from '../../lib/app-error.ts';
import { availableToPay, type HasSeenTreasuries } from '../../payments/ledger/treasury.ts';
import type { HasPaymentLimits } from '../../payments/onchain/payment-limits.ts';
import type { Shown } from '../../payments/x402/payment-header.ts';

/**
 * Throws for a price below the minimum that justifies the gas of an on-chain payment: VALIDATION_ERROR for a caller who asked for it although
 * its treasury covers the price; else INSUFFICIENT_FUNDS or INSUFFICIENT_BALANCE.
 */
export async function requirePayable(
  ctx: HasDb & HasSeenTreasuries & HasPaymentLimits,
  caller: KnownCaller,
  { shown, forced }: { readonly shown: Shown | null; readonly forced: 'x402' | 'treasury' | null },
  priceMicro: bigint,
): Promise<void> {
  const { minPaymentMicro } = ctx.paymentLimits;
  if (priceMicro >= minPaymentMicro) return;
  const least = formatUsdc(minPaymentMicro);
  const availableMicro = await availableToPay(ctx, caller);
  if (availableMicro < priceMicro) {
    const message = `Prices below ${least} USDC are paid from a treasury, not on chain.`;
    throw insufficient(caller, priceMicro, availableMicro, message);
  }
  const payment = shown?.version === 1 ? 'X-PAYMENT' : 'PAYMENT-SIGNATURE';
  throw invalid(
    forced === 'x402' ? 'X-Payment-Method' : payment,
    `must be left out: a treasury pays prices below ${least} USDC, and yours covers this one`,
  );
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
