const names: Readonly<Record<number, string>> = {
  8453: 'Base',
  84532: 'Base Sepolia (test)',
  42161: 'Arbitrum',
  421614: 'Arbitrum Sepolia (test)',
  137: 'Polygon',
  80002: 'Polygon Amoy (test)',
  43114: 'Avalanche',
  10: 'Optimism',
};

/** The chain of a node, as people read it. A local chain has the id of Base Sepolia. */
export const networkName = ({ chainId, isLocalChain }: { chainId: number; isLocalChain: boolean }): string =>
  isLocalChain ? 'Local test chain' : (names[chainId] ?? `chain ${chainId}`);

/** Name of the network of a CAIP-2 id on a node of this default chain; the id, if it has no name here. */
export function nameOfNetwork(caip2: string, chain: { chainId: number; isLocalChain: boolean }): string {
  const chainId = Number(caip2.split(':')[1]);
  if (chainId === chain.chainId) return networkName(chain);
  return chain.isLocalChain ? `Local test chain ${chainId}` : (names[chainId] ?? caip2);
}
