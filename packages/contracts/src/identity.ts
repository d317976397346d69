import { z } from 'zod';
import { AgentMetadata, agentStatuses, Reputation } from './agents.ts';
import { endpoint } from './endpoint.ts';
import { Id, Timestamp, Usdc, WalletAddress } from './scalars.ts';

const PricingTier = z.object({
  name: z.enum(['default', 'basic', 'premium', 'enterprise']),
  perRequest: Usdc,
  perHour: Usdc.nullable(),
  currency: z.literal('USDC'),
  network: z.string(),
});

/** On-chain identity record (spec), with what has been proven and where it stands on chain beside it. */
export const IdentityRecord = z.object({
  id: Id,
  name: z.string(),
  owner: WalletAddress,
  capabilities: z.array(z.string()),
  serviceEndpoint: z.string(),
  rates: z.array(PricingTier),
  reputation: Reputation,
  verified: z.boolean(),
  proofs: z.object({
    endpoint: Timestamp.nullable().describe('When the endpoint was proven; null when it is not.'),
    wallet: Timestamp.nullable().describe("When the owner's wallet was proven; null when it is not."),
  }),
  metadata: AgentMetadata,
  onChain: z
    .object({ chainId: z.int(), registry: WalletAddress, tokenId: z.string() })
    .nullable()
    .describe('The ERC-8004 entry; null when there is none.'),
});
export type IdentityRecord = z.infer<typeof IdentityRecord>;

const EndpointProof = z.object({ agentId: Id, proof: z.literal('endpoint') });
const WalletChallengeRequest = z.object({
  agentId: Id.describe('An agent of yours whose owner wallet is to be proven.'),
  proof: z.literal('wallet'),
});
export const WalletSignature = z.object({
  challengeId: Id,
  signature: z.string().regex(/^0x([0-9a-fA-F]{2}){1,4096}$/, 'is not a hex signature'),
});

/** Three things to send to POST /identity/verify: a wish for an endpoint proof, a wish for a challenge, the signed challenge. */
export const VerifyRequest = z.union([EndpointProof, WalletChallengeRequest, WalletSignature]);
export type VerifyRequest = z.output<typeof VerifyRequest>;

const EndpointVerified = z.object({
  agentId: Id,
  proof: z.literal('endpoint'),
  verified: z.boolean().describe('Endpoint and wallet are proven.'),
  status: z.enum(agentStatuses),
  reason: z.string().nullable().describe('Why the proof failed; null when it passed.'),
});
export type EndpointVerified = z.infer<typeof EndpointVerified>;
const WalletChallenge = z.object({
  challengeId: Id,
  message: z.string().describe('Sign exactly this text with the owner wallet (EIP-4361, EIP-191 or EIP-1271).'),
  nonce: z.string(),
  expiresAt: Timestamp,
});
const WalletVerified = z.object({
  agentId: Id,
  proof: z.literal('wallet'),
  verified: z.boolean(),
  owner: WalletAddress,
  method: z.enum(['eip191', 'eip1271']),
  verifiedAt: Timestamp,
});

const params = z.object({ id: Id });

export const identityEndpoints = {
  getIdentity: endpoint({
    method: 'GET',
    path: '/identity/{id}',
    summary: 'Who an agent is, who owns it, and what of that has been proven',
    tag: 'Identity',
    auth: 'none',
    limit: 'api',
    params,
    data: IdentityRecord,
    errors: [],
  }),
  verifyIdentity: endpoint({
    method: 'POST',
    path: '/identity/verify',
    summary:
      'Prove the endpoint of an agent of yours now, or prove the wallet that owns it: ask for a challenge, then send it signed',
    tag: 'Identity',
    auth: 'key',
    scope: 'agents:write',
    limit: 'api',
    body: VerifyRequest,
    data: z.union([EndpointVerified, WalletVerified, WalletChallenge]),
    errors: ['NOT_FOUND'],
  }),
  updateIdentityMetadata: endpoint({
    method: 'PUT',
    path: '/identity/{id}/metadata',
    summary: 'Replace fields of the metadata of an agent of yours; null removes one',
    tag: 'Identity',
    auth: 'key',
    scope: 'agents:write',
    limit: 'api',
    params,
    body: z
      .object({
        avatar: AgentMetadata.shape.avatar.nullable(),
        website: AgentMetadata.shape.website.nullable(),
        tags: AgentMetadata.shape.tags.nullable(),
        maxConcurrency: AgentMetadata.shape.maxConcurrency.nullable(),
      })
      .partial()
      .refine((body) => Object.keys(body).length > 0, 'names no field to change'),
    data: z.object({ id: Id, metadata: AgentMetadata, updated: z.array(z.string()), updatedAt: Timestamp }),
    errors: [],
  }),
};
