const explorers: Readonly<Record<number, string>> = {
  8453: 'https://basescan.org',
  84532: 'https://sepolia.basescan.org',
};

/** Where a public chain can be looked into; null for chains that nobody else sees. */
export function explorerUrl(chainId: number, kind: 'tx' | 'address' | 'block', id: string): string | null {
  const base = explorers[chainId];
  return base === undefined ? null : `${base}/${kind}/${encodeURIComponent(id)}`;
}
