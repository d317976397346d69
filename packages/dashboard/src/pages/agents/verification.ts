import type { OwnAgent } from '@agent-network/contracts/figures';

export interface VerificationPart {
  readonly name: 'endpoint' | 'wallet' | 'chain';
  readonly isDone: boolean;
}

/** What there is to prove of an agent, in the order in which it is done. */
export const verificationParts = ({ verification }: Pick<OwnAgent, 'verification'>): readonly VerificationPart[] => [
  { name: 'endpoint', isDone: verification.endpointProvenAt !== null },
  { name: 'wallet', isDone: verification.walletProvenAt !== null },
  { name: 'chain', isDone: verification.tokenId !== null },
];
