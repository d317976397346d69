import type { AgentMetadata } from '@agent-network/contracts/agents/agent-metadata';
import { formatUsdc, parseUsdc } from '@agent-network/contracts/money';
import { invalid } from '../../lib/app-error.ts';

/** Parts of a price that are known before a call, and do not go with one that is known afterwards. */
const knownBefore = ['perUnit', 'sizeSteps', 'priceHints'] as const;

/** Throws VALIDATION_ERROR for a price by usage beside another part of a price, or with a maximum below the least price. */
export function requirePrices(perRequestMicro: bigint, metadata: AgentMetadata): void {
  const { perUsage } = metadata;
  if (!perUsage) return;
  const other = knownBefore.find((name) => metadata[name]);
  if (other) throw invalid('metadata.perUsage', `does not go together with metadata.${other}: a call has one price`);
  if (parseUsdc(perUsage.maximum) < perRequestMicro)
    throw invalid(
      'metadata.perUsage.maximum',
      `is below the price per request, ${formatUsdc(perRequestMicro)} USDC, which is the least that a call costs`,
    );
}
