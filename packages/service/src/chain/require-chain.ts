import type { HasChain } from './chain-info.ts';
import type { HasUsdc } from './usdc-client.ts';

/**
 * Throws when the RPC node serves another chain than at the start of this process: what looks like a reorg is none, and nothing is taken
 * back for it.
 */
export async function requireChain({ chain, usdc }: HasChain & HasUsdc): Promise<void> {
  requireSame(chain.chainId, await usdc.chainId());
}

export function requireSame(chainId: number, served: number): void {
  if (served !== chainId) throw new Error(`CHAIN_RPC_URL serves chain ${served} now instead of ${chainId}`);
}
