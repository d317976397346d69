const names: Readonly<Record<number, string>> = { 8453: 'Base', 84532: 'Base Sepolia (test)' };

/** The chain of a node, as people read it. A local chain has the id of Base Sepolia. */
export const networkName = ({ chainId, isLocalChain }: { chainId: number; isLocalChain: boolean }): string =>
  isLocalChain ? 'Local test chain' : (names[chainId] ?? `chain ${chainId}`);
