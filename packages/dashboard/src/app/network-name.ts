const names: Readonly<Record<number, string>> = { 8453: 'Base', 84532: 'Base Sepolia (test)' };

export const networkName = (chainId: number): string => names[chainId] ?? `chain ${chainId}`;
