import { formatUsdc } from '@agent-network/contracts/money';
import { invalid } from '../../lib/app-error.ts';

/** Throws VALIDATION_ERROR for an amount that is not worth its gas on chain. */
export function requireAtLeast(amountMicro: bigint, minMicro: bigint): void {
  if (amountMicro === 0n) throw invalid('amount', 'must be more than zero');
  if (amountMicro < minMicro) throw invalid('amount', `must be at least ${formatUsdc(minMicro)} USDC`);
}
