import type { IdentityRecord } from '@agent-network/contracts/agents/identity';
import type { OwnAgent } from '@agent-network/contracts/invocations/figures';

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

/** Whether the agent's token leads to it, at whatever node. The two are read apart: one may tell of the token before. */
export const pointsHere = (agent: OwnAgent, { onChain }: IdentityRecord): boolean =>
  onChain?.tokenId === agent.verification.tokenId &&
  (onChain?.agentURI?.endsWith(`/agents/${agent.id}/registration.json`) ?? false);

/** Whether nothing is left to be done or waited for: all proven, and the token with its owner. */
export const isComplete = (agent: OwnAgent, identity: IdentityRecord | undefined): boolean =>
  agent.verified &&
  agent.verification.tokenClaimedAt !== null &&
  identity?.onChain?.custody === 'owner' &&
  pointsHere(agent, identity);
