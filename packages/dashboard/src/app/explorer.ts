const explorers: Readonly<Record<number, string>> = {
  8453: 'https://basescan.org',
  84532: 'https://sepolia.basescan.org',
};

/** Returns the block explorer's URL on a public chain; null for private chains. */
export function explorerUrl(chainId: number, kind: 'tx' | 'address' | 'block', id: string): string | null {
  const base = explorers[chainId];
  return base === undefined ? null : `${base}/${kind}/${encodeURIComponent(id)}`;
}
