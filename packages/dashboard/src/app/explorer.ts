import type { SessionInfo } from './session.ts';

const explorers: Readonly<Record<number, string>> = {
  8453: 'https://basescan.org',
  84532: 'https://sepolia.basescan.org',
};

/** Where people look at this on the chain; null where nobody can, as on the chain of local mode. */
export function explorerUrl(
  { chainId, hasLocalAccount }: Pick<SessionInfo, 'chainId' | 'hasLocalAccount'>,
  what: 'tx' | 'address' | 'token',
  id: string,
): string | null {
  const base = hasLocalAccount ? undefined : explorers[chainId];
  return base ? `${base}/${what}/${id}` : null;
}
