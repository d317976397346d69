import { z } from 'zod';
import { identityTokenShownOnce, secretNotice } from '../access/shown-once.ts';
import { endpoint } from '../endpoint.ts';
import { AgentRef, Id, Timestamp, TransactionHash, Usdc, WalletAddress } from '../scalars.ts';
import { AgentMetadata, AgentMetadataChange } from './agent-metadata.ts';
import { agentStatuses, Reputation } from './agents.ts';

const PricingTier = z.object({
  name: z.enum(['default', 'basic', 'premium', 'enterprise']),
  perRequest: Usdc,
  perHour: Usdc.nullable(),
  currency: z.literal('USDC'),
  network: z.string(),
});

const TokenId = z
  .string()
  .regex(/^(0|[1-9]\d{0,77})$/, 'is not the number of a token')
  .meta({ examples: ['22'] });

const OnChain = z.object({
  chainId: z.int(),
  registry: WalletAddress,
  tokenId: TokenId,
  agentURI: z.string().nullable().describe('URI of the registration file that the token points to.'),
  owner: WalletAddress,
  agentWallet: WalletAddress.nullable(),
  registeredBlock: z.int().min(0).nullable(),
  transactionHash: TransactionHash.nullable().describe('The transaction that registered it.'),
  custody: z
    .enum(['node', 'owner'])
    .describe("`node`: the node's registrar holds the token until the owner claims it."),
});

/** On-chain identity record (spec), with its proofs and the state of its registry entry. */
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
  frozen: z
    .boolean()
    .describe(
      'The token moved to another wallet, which is not proven here yet: payments from the treasury are blocked.',
    ),
  onChain: OnChain.nullable().describe('The ERC-8004 entry; null when there is none.'),
  registration: z
    .enum(['none', 'due', 'sent', 'registered'])
    .describe('State of the registry entry: a verified agent gets one, if its node writes to the registry.'),
});
export type IdentityRecord = z.infer<typeof IdentityRecord>;

const EndpointProof = z.object({ agentId: Id, proof: z.literal('endpoint') });
const WalletChallengeRequest = z.object({
  agentId: Id.describe('Your agent whose owner wallet you prove.'),
  proof: z.literal('wallet'),
});
export const WalletSignature = z.object({
  challengeId: Id,
  signature: z.string().regex(/^0x([0-9a-fA-F]{2}){1,4096}$/, 'is not a hex signature'),
});

const OwnerSignature = WalletSignature.extend({
  newIdentityToken: z
    .literal(true)
    .optional()
    .describe('Gives the agent a new identityToken in place of a lost one; its endpoint has to be proven with that.'),
});

/** The three bodies of POST /identity/verify: endpoint proof, challenge request, signed challenge. */
export const VerifyRequest = z.union([EndpointProof, WalletChallengeRequest, OwnerSignature]);
export type VerifyRequest = z.output<typeof VerifyRequest>;

/** Ways to prove an endpoint, in the order in which they are tried. */
const endpointProofs = ['challenge', 'well-known', 'card', 'dns', 'erc8004'] as const;
export type EndpointProofName = (typeof endpointProofs)[number];

const EndpointVerified = z.object({
  agentId: Id,
  proof: z.literal('endpoint'),
  verified: z.boolean().describe('Endpoint and wallet are proven.'),
  status: z.enum(agentStatuses),
  reason: z.string().nullable().describe('Why the proof failed; null when it passed.'),
  by: z.enum(endpointProofs).nullable().describe('The proof that passed; null when none did.'),
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
  identityToken: z
    .string()
    .nullable()
    .describe(
      'A new one, shown here only, when the proof took the agent over from another account or `newIdentityToken` asked for it; else null.',
    ),
  secretNotice,
});

const TokenClaim = z.object({
  agentId: Id,
  chainId: z.int(),
  registry: WalletAddress,
  tokenId: TokenId,
  owner: WalletAddress.describe('The wallet that gets the token.'),
  state: z.enum(['due', 'sent', 'claimed']),
  transactionHash: TransactionHash.nullable(),
});
export type TokenClaim = z.infer<typeof TokenClaim>;

const TokenLink = z.object({
  agentId: Id,
  chainId: z.int(),
  registry: WalletAddress,
  tokenId: TokenId,
  owner: WalletAddress,
  agentURI: z.string().describe('URI that the token must point to, so that other nodes recognise this agent.'),
  pointsThere: z.boolean().describe('true: the token points there already.'),
  call: z
    .object({ to: WalletAddress, data: z.string() })
    .describe('The transaction (setAgentURI) that the owner wallet sends to set it.'),
});
export type TokenLink = z.infer<typeof TokenLink>;

const params = z.object({ id: Id });

export const identityEndpoints = {
  getIdentity: endpoint({
    method: 'GET',
    path: '/identity/{id}',
    summary: 'Read the identity, owner and proofs of an agent',
    tag: 'Identity',
    auth: 'none',
    isPublic: true,
    limit: 'api',
    params: z.object({ id: AgentRef }),
    data: IdentityRecord,
    errors: [],
  }),
  verifyIdentity: endpoint({
    method: 'POST',
    path: '/identity/verify',
    summary: 'Prove the endpoint of your agent now, or its owner wallet: request a challenge, then send it signed',
    tag: 'Identity',
    auth: 'key',
    scope: 'agents:write',
    limit: 'api',
    body: VerifyRequest,
    data: z.union([EndpointVerified, WalletVerified, WalletChallenge]),
    shownOnce: identityTokenShownOnce,
    errors: ['NOT_FOUND'],
  }),
  claimToken: endpoint({
    method: 'POST',
    path: '/identity/{id}/claim',
    summary: 'Transfer the token that the node registered for your agent to its proven owner wallet',
    tag: 'Identity',
    auth: 'key',
    scope: 'agents:write',
    limit: 'api',
    params,
    data: TokenClaim,
    errors: [],
  }),
  linkToken: endpoint({
    method: 'POST',
    path: '/identity/{id}/link',
    summary: 'Link your agent to a registry token that its proven owner wallet already holds',
    tag: 'Identity',
    auth: 'key',
    scope: 'agents:write',
    limit: 'api',
    params,
    body: z.object({ tokenId: TokenId }),
    data: TokenLink,
    errors: [],
  }),
  updateIdentityMetadata: endpoint({
    method: 'PUT',
    path: '/identity/{id}/metadata',
    summary: "Replace fields of your agent's metadata; null removes one",
    tag: 'Identity',
    auth: 'key',
    scope: 'agents:write',
    limit: 'api',
    params,
    body: AgentMetadataChange.refine((body) => Object.keys(body).length > 0, 'has no field to change'),
    data: z.object({ id: Id, metadata: AgentMetadata, updated: z.array(z.string()), updatedAt: Timestamp }),
    errors: ['CONFLICT'],
  }),
};
