import type { IdentityRecord } from '@agent-network/contracts/agents/identity';
import type { OwnAgent } from '@agent-network/contracts/invocations/figures';

export interface VerificationPart {
  readonly name: 'endpoint' | 'wallet' | 'chain';
  readonly isDone: boolean;
}

/** The proofs of an agent, in the order in which they are made. */
export const verificationParts = ({ verification }: Pick<OwnAgent, 'verification'>): readonly VerificationPart[] => [
  { name: 'endpoint', isDone: verification.endpointProvenAt !== null },
  { name: 'wallet', isDone: verification.walletProvenAt !== null },
  { name: 'chain', isDone: verification.tokenId !== null },
];

/** True if the agent's token points to it, at any node. Agent and identity are read separately, so either may have the token first. */
export const pointsHere = (agent: OwnAgent, { onChain }: IdentityRecord): boolean =>
  onChain?.tokenId === agent.verification.tokenId &&
  (onChain?.agentURI?.endsWith(`/agents/${agent.id}/registration.json`) ?? false);

/** True if no step is left: all is proven, and the token belongs to its owner. */
export const isComplete = (agent: OwnAgent, identity: IdentityRecord | undefined): boolean =>
  agent.verified &&
  agent.verification.tokenClaimedAt !== null &&
  identity?.onChain?.custody === 'owner' &&
  pointsHere(agent, identity);
