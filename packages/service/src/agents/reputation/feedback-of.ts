import type { FeedbackFile } from '@agent-network/contracts/agents/feedback';
import { agentRegistryOf } from '@agent-network/contracts/agents/registration';
import type { PaidOutcome } from './paid-outcome.ts';

/** An outcome with the on-chain facts of its agent and its payment. */
export interface FeedbackFacts extends Pick<PaidOutcome, 'requestId' | 'agentId' | 'accountId' | 'isGood'> {
  readonly endedAt: Date;
  readonly tokenId: bigint | null;
  readonly tokenOwner: string | null;
  /** The agent's account and its owner's wallet; of a removed one the last. */
  readonly owner: { readonly accountId: string; readonly address: string };
  readonly payment: { readonly from: string; readonly to: string; readonly hash: string } | null;
}

/** The giver of feedback, the node that serves its files, and the registry of the agents. */
export interface FeedbackPlace {
  readonly chainId: number;
  readonly identityRegistry: string;
  readonly giver: string;
  readonly baseUrl: string;
}

export type Feedback =
  | { readonly kind: 'given'; readonly tokenId: bigint; readonly file: FeedbackFile }
  | { readonly kind: 'left_out'; readonly reason: 'not_registered' | 'unclaimed' | 'not_on_chain' | 'tied' };

/**
 * Decides the feedback of a settled outcome. None when the giver holds the token (the registry refuses it; the node holds those of
 * unclaimed agents), when no payment is on chain (no proof), or when the payer's tie to the owner leaves it unheard.
 */
export function feedbackOf(facts: FeedbackFacts, isTied: boolean, place: FeedbackPlace): Feedback {
  const { agentId, tokenId, tokenOwner, payment, isGood, endedAt } = facts;
  if (tokenId === null || tokenOwner === null) return { kind: 'left_out', reason: 'not_registered' };
  if (tokenOwner.toLowerCase() === place.giver.toLowerCase()) return { kind: 'left_out', reason: 'unclaimed' };
  if (payment === null) return { kind: 'left_out', reason: 'not_on_chain' };
  if (isTied) return { kind: 'left_out', reason: 'tied' };
  const file: FeedbackFile = {
    agentRegistry: agentRegistryOf(place.chainId, place.identityRegistry),
    agentId: Number(tokenId),
    clientAddress: `eip155:${place.chainId}:${place.giver.toLowerCase()}`,
    createdAt: endedAt.toISOString(),
    value: isGood ? 100 : 0,
    valueDecimals: 0,
    tag1: 'successRate',
    tag2: 'paid',
    endpoint: `${place.baseUrl}/invoke/${agentId}`,
    proofOfPayment: {
      fromAddress: payment.from,
      toAddress: payment.to,
      chainId: place.chainId,
      txHash: payment.hash,
    },
  };
  return { kind: 'given', tokenId, file };
}

/** URI of a feedback file. */
export const feedbackUri = (
  baseUrl: string,
  { agentId, requestId }: Pick<PaidOutcome, 'agentId' | 'requestId'>,
): string => `${baseUrl}/agents/${agentId}/feedback/${requestId}.json`;
