import { z } from 'zod';
import { nameText } from '../display-text.ts';
import { Id, Timestamp, Usdc, WalletAddress } from '../scalars.ts';
import { AgentMetadata } from './agent-metadata.ts';
import { agentStatuses } from './agents.ts';

export const REGISTRATION_TYPE = 'https://eips.ethereum.org/EIPS/eip-8004#registration-v1';

/** `eip155:{chainId}:{registry}` (CAIP-10), as ERC-8004 names a registry; the address in lower case. */
export const agentRegistryOf = (chainId: number, registry: string): string =>
  `eip155:${chainId}:${registry.toLowerCase()}`;

/** Fields of an agent in a registration file of this software, in addition to those of ERC-8004. */
export const AgentPart = z.object({
  kind: z.literal('agent'),
  id: Id,
  /**
   * Salt of the id, 16 bytes in hex; the home node's key is the other input. Ids of older nodes, and of nodes without a registrar, have
   * none.
   */
  idSalt: z
    .string()
    .regex(/^[0-9a-f]{32}$/)
    .optional(),
  /** Base URL of the agent's home node. */
  nodeUrl: z.string(),
  owner: WalletAddress,
  capabilities: z.array(z.string()),
  rates: z.object({
    perRequest: Usdc,
    perHour: Usdc,
    tiers: z.object({ basic: Usdc, premium: Usdc, enterprise: Usdc }).partial(),
  }),
  metadata: AgentMetadata,
  /** Absent: none. */
  exampleQuestions: z
    .array(z.string())
    .optional()
    .meta({ examples: [['Summarise my meeting notes.', 'Make this report shorter.']] }),
  verified: z.boolean(),
  status: z.enum(agentStatuses),
  responseMs: z.number().min(0).nullable(),
  /** Names the version of the agent's declared types, which never change under that name. Left out: it declares none. */
  typesVersion: Id.optional(),
  /** The types as JSON text, as their depth has limits of its own; in the agent's own file only, not in a feed. */
  types: z.string().optional(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});

/** Abilities that a node announces. `interactive`: it passes questions of agents on to their callers, and the answers back. */
export const nodeFeatures = ['interactive'] as const;

/** Fields of a node in a registration file of this software. */
export const NodePart = z.object({
  kind: z.literal('node'),
  baseUrl: z.string(),
  label: nameText(64).min(1),
  version: nameText(64),
  /** Takes payments for the node's agents, and sends refunds. */
  wallet: WalletAddress,
  /** Abilities, also ones that only later versions know. */
  features: z.array(nameText(64)).max(50).optional(),
});

const registrationFile = <P extends z.ZodObject>(part: P) =>
  z.object({
    type: z.literal(REGISTRATION_TYPE),
    name: z.string(),
    description: z.string(),
    image: z.string().optional(),
    services: z.array(z.object({ name: z.string(), endpoint: z.string(), version: z.string().optional() })),
    x402Support: z.boolean(),
    /** False once the agent was removed. */
    active: z.boolean(),
    registrations: z.array(z.object({ agentId: z.int().min(0), agentRegistry: z.string() })),
    supportedTrust: z.array(z.string()),
    agentNetwork: part,
  });

/** `GET /agents/{id}/registration.json`: the ERC-8004 registration file of an agent; also an item of a node's feed. */
export const AgentRegistrationFile = registrationFile(AgentPart);
export type AgentRegistrationFile = z.infer<typeof AgentRegistrationFile>;

/** `GET /.well-known/agent-network.json`: the registration file of a node. */
export const NodeRegistrationFile = registrationFile(NodePart);
export type NodeRegistrationFile = z.infer<typeof NodeRegistrationFile>;
