import type { OwnAgent } from '@agent-network/contracts/figures';
import type { IdentityRecord } from '@agent-network/contracts/identity';

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

/** Whether a token's address leads to the agent, at whatever node. */
export const pointsTo = (uri: string | null | undefined, agentId: string): boolean =>
  uri?.endsWith(`/agents/${agentId}/registration.json`) ?? false;

/** Whether nothing is left to be done or waited for: all proven, and the token with its owner. */
export const isComplete = (agent: OwnAgent, identity: IdentityRecord | undefined): boolean =>
  agent.verified &&
  agent.verification.tokenClaimedAt !== null &&
  identity?.onChain?.custody === 'owner' &&
  pointsTo(identity.onChain.agentURI, agent.id);
