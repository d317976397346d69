import { z } from 'zod';
import { identityTokenShownOnce, secretNotice, secretShownOnce } from '../access/shown-once.ts';
import { displayText, nameText } from '../display-text.ts';
import { endpoint } from '../endpoint.ts';
import { cursorOrOffsetQuery, queryNumber } from '../page.ts';
import { AgentRef, Duration, Fraction, Id, Timestamp, Usdc, UsdcInput, WalletAddress, webUrl } from '../scalars.ts';
import { AgentMetadata, AgentMetadataChange, DeclaredMetadata } from './agent-metadata.ts';
import { AgentQuery, AgentSearch, Capability } from './agent-search.ts';
import { AgentTypes } from './agent-types.ts';
import { AgentProtocolName, Upstream, UpstreamUpdate } from './upstream.ts';

const Capabilities = z
  .array(Capability)
  .min(1)
  .max(50)
  .refine((list) => new Set(list).size === list.length, 'names a capability twice');

/** Questions that an agent is for, in the words of callers, as descriptions often use other words. */
const ExampleQuestions = z
  .array(nameText(200).min(1))
  .max(5)
  .refine((list) => list.length !== 1, 'must be two to five questions, or none')
  .refine((list) => new Set(list).size === list.length, 'names a question twice')
  .describe(
    'Two to five questions or tasks that the agent is for, in the words of a caller. Search finds the agent by them.',
  )
  .meta({ examples: [['Summarise my meeting notes.', 'Make this report shorter.']] });

const RateTiers = z.object({ basic: Usdc, premium: Usdc, enterprise: Usdc });
const RateTiersInput = z.object({ basic: UsdcInput, premium: UsdcInput, enterprise: UsdcInput });
/** `perHour` and `tiers` default to the price per request. */
const RatesInput = z.object({
  perRequest: UsdcInput.describe('The price of a call, unless the metadata state what else it follows.'),
  perHour: UsdcInput.optional().describe('For display and search only: calls are charged by `perRequest`.'),
  tiers: RateTiersInput.partial().optional().describe('For display only: calls are charged by `perRequest`.'),
});
const Rates = z.object({ perRequest: Usdc, perHour: Usdc });

/** Body of POST /agents (spec, "Agent registration body"). */
export const AgentRegistration = z.object({
  name: nameText(120).min(1),
  description: displayText(2000).default(''),
  capabilities: Capabilities,
  rates: RatesInput,
  endpoint: webUrl(2048),
  protocol: AgentProtocolName.optional(),
  upstream: Upstream.optional(),
  metadata: DeclaredMetadata.default({}),
  types: AgentTypes.optional().describe('Input and output of the agent, as JSON Schemas.'),
  exampleQuestions: ExampleQuestions.default([]),
});
export type AgentRegistration = z.output<typeof AgentRegistration>;

/** Body of PUT /agents/{id}: any subset of fields; a changed endpoint must be proven again. */
export const AgentUpdate = z
  .object({
    name: nameText(120).min(1).optional(),
    description: displayText(2000).optional(),
    capabilities: Capabilities.optional(),
    rates: RatesInput.partial().optional(),
    endpoint: webUrl(2048).optional(),
    protocol: AgentProtocolName.optional(),
    upstream: UpstreamUpdate.optional(),
    metadata: AgentMetadataChange.optional().describe('Replaces the fields that it names; null removes one.'),
    types: AgentTypes.nullable().optional().describe('Replaces all types of the agent; null: removes them.'),
    exampleQuestions: ExampleQuestions.nullable()
      .optional()
      .describe('Replaces all questions; null or an empty list removes them.'),
  })
  .refine((body) => Object.keys(body).length > 0, 'has no field to change');
export type AgentUpdate = z.output<typeof AgentUpdate>;

export const agentStatuses = ['pending_verification', 'online', 'offline'] as const;
export type AgentStatus = (typeof agentStatuses)[number];

export const Reputation = z.number().min(0).max(1000);
const isNew = z
  .boolean()
  .describe('Fewer than three independent customers have paid for calls: the reputation is mostly a starting value.');

/** Agent (list item) of the spec, extended by `isNew`. A pending agent is shown as offline here: it can't be invoked. */
export const AgentListItem = z.object({
  id: Id,
  name: z.string(),
  capabilities: z.array(z.string()),
  rates: Rates,
  reputation: Reputation,
  isNew,
  status: z.enum(['online', 'offline']),
  location: z.string(),
  responseTime: Duration,
  verified: z.boolean(),
});
export type AgentListItem = z.infer<typeof AgentListItem>;

/** Agent (detail) of the spec, extended by `isNew`, `status`, `location`, `metadata`, `exampleQuestions`, `updatedAt` and `frozen`. */
export const AgentDetail = z.object({
  id: Id,
  name: z.string(),
  description: z.string(),
  capabilities: z.array(z.string()),
  rates: Rates.extend({ tiers: RateTiers }),
  owner: WalletAddress,
  reputation: Reputation,
  isNew,
  totalRequests: z.int().min(0),
  successRate: Fraction,
  avgResponseTime: Duration,
  uptime: Fraction,
  verified: z.boolean(),
  online: z.boolean(),
  endpoint: z.string(),
  lastSeen: Timestamp,
  createdAt: Timestamp,
  status: z.enum(agentStatuses),
  location: z.string(),
  metadata: AgentMetadata,
  exampleQuestions: z
    .array(z.string())
    .describe('Questions that the agent is for; empty: its owner gives none.')
    .meta({ examples: [['Summarise my meeting notes.', 'Make this report shorter.']] }),
  updatedAt: Timestamp,
  frozen: z
    .boolean()
    .describe(
      'The token moved to another wallet, which is not proven here yet: payments from the treasury are blocked.',
    ),
});
export type AgentDetail = z.infer<typeof AgentDetail>;

const address = (path: string) =>
  z.url().meta({ examples: [`https://node.example${path.replace('{id}', 'agt_01k9xq3v7m2n8p4r6t0w5y1zab')}`] });

/** Addresses of an agent by protocol. A protocol that the node does not serve is absent. */
export const AgentInterfaces = z.object({
  invoke: address('/invoke/{id}').describe('POST /invoke/{id}, with a key.'),
  x402: address('/x402/{id}').optional().describe('The call without a key, paid by x402.'),
  a2a: address('/a2a/{id}/').optional().describe('A2A endpoint of the agent.'),
  agentCard: address('/a2a/{id}/.well-known/agent-card.json').optional().describe('Its A2A agent card.'),
  mcp: address('/agents/{id}/mcp').optional().describe('MCP endpoint of the agent.'),
  openai: z
    .object({ baseUrl: address('/v1'), model: Id })
    .optional()
    .describe('For clients of the OpenAI API: the base URL, and the agent as the model.'),
  openapi: address('/agents/{id}/openapi.json')
    .optional()
    .describe('OpenAPI document of the call that x402 pays, with its price.'),
});
export type AgentInterfaces = z.infer<typeof AgentInterfaces>;

const AgentRegistered = z.object({
  id: Id,
  name: z.string(),
  identityToken: secretShownOnce('Shown here only. The agent proves its endpoint with it and acts as itself with it.'),
  secretNotice,
  registeredAt: Timestamp,
  status: z.literal('pending_verification'),
});

const AgentStatusRecord = z.object({
  id: Id,
  online: z.boolean(),
  lastPing: Timestamp,
  responseTime: Duration,
  load: Fraction,
  location: z.string(),
  status: z.enum(agentStatuses),
});
export type AgentStatusRecord = z.infer<typeof AgentStatusRecord>;

const params = z.object({ id: Id });
const named = z.object({ id: AgentRef });

/** A short name that stands for one agent of the node for good, such as `case-converter`. */
const AgentSlug = z
  .string()
  .nullable()
  .describe(
    'Short name of the agent at this node, usable in place of its id; null: another agent was the first with the name, or the agent has another home.',
  )
  .meta({ examples: ['case-converter'] });

export const agentEndpoints = {
  listAgents: endpoint({
    method: 'GET',
    path: '/agents',
    summary: 'List agents, best reputation first',
    tag: 'Agents',
    auth: 'none',
    isPublic: true,
    limit: 'api',
    fromRegistry: true,
    query: z.object({
      capability: Capability.optional(),
      maxPrice: Usdc.optional(),
      minReputation: queryNumber(0, 1000).optional().describe('At most six decimals.'),
      status: z.enum(['online', 'offline', 'all']).optional().describe('Default: all.'),
      ...cursorOrOffsetQuery,
    }),
    data: z.object({
      agents: z.array(AgentListItem),
      total: z.int().min(0),
      hasMore: z.boolean(),
      nextCursor: z.string().nullable(),
    }),
    errors: [],
  }),
  searchAgents: endpoint({
    method: 'POST',
    path: '/agents/search',
    summary: 'Search agents by capabilities, text, rates, reputation and state, in a chosen order',
    tag: 'Agents',
    auth: 'none',
    limit: 'api',
    fromRegistry: true,
    body: AgentSearch,
    data: z.object({
      agents: z.array(AgentListItem),
      total: z.int().min(0),
      hasMore: z.boolean(),
      nextCursor: z.string().nullable(),
      descriptions: z
        .record(Id, z.string())
        .optional()
        .describe('With `describe`: the first 200 characters of the descriptions, by agent.'),
      query: AgentQuery.describe('The query as the node parsed it.'),
      rankedBy: z
        .enum(['meaning', 'words'])
        .optional()
        .describe(
          'How the text was compared; only with a text. `meaning`: by the similarity of the texts, and the share of the words. `words`: by the words alone.',
        ),
      executionTime: Duration,
    }),
    errors: [],
  }),
  registerAgent: endpoint({
    method: 'POST',
    path: '/agents',
    summary: 'Register an agent',
    tag: 'Agents',
    auth: 'key',
    scope: 'agents:write',
    limit: 'api',
    body: AgentRegistration,
    data: AgentRegistered,
    shownOnce: identityTokenShownOnce,
    errors: [],
  }),
  getAgent: endpoint({
    method: 'GET',
    path: '/agents/{id}',
    summary: 'Read one agent',
    tag: 'Agents',
    auth: 'none',
    isPublic: true,
    limit: 'api',
    params: named,
    data: AgentDetail.extend({
      interfaces: AgentInterfaces,
      protocol: AgentProtocolName,
      slug: AgentSlug,
      types: AgentTypes.optional().describe('Input and output of the agent; absent: not declared.'),
    }),
    errors: [],
  }),
  updateAgent: endpoint({
    method: 'PUT',
    path: '/agents/{id}',
    summary: 'Change fields of your agent',
    tag: 'Agents',
    auth: 'key',
    scope: 'agents:write',
    limit: 'api',
    params,
    body: AgentUpdate,
    data: z.object({ id: Id, updated: z.array(z.string()), updatedAt: Timestamp }),
    errors: ['CONFLICT'],
  }),
  removeAgent: endpoint({
    method: 'DELETE',
    path: '/agents/{id}',
    summary: 'Remove your agent permanently',
    tag: 'Agents',
    auth: 'key',
    scope: 'agents:write',
    limit: 'api',
    params,
    data: z.object({ id: Id, unregistered: z.literal(true), finalBlock: z.int().min(0) }),
    errors: ['CONFLICT'],
  }),
  getAgentStatus: endpoint({
    method: 'GET',
    path: '/agents/{id}/status',
    summary: 'Read whether an agent is online, its response time and its load',
    tag: 'Agents',
    auth: 'none',
    isPublic: true,
    limit: 'api',
    params: named,
    data: AgentStatusRecord,
    errors: [],
  }),
  heartbeat: endpoint({
    method: 'POST',
    path: '/agents/{id}/heartbeat',
    summary: "Report an agent's load; `accepting: false` takes it offline at once",
    tag: 'Agents',
    auth: 'agent',
    limit: 'api',
    params,
    body: z.object({ load: Fraction.optional(), accepting: z.boolean().optional() }),
    data: AgentStatusRecord,
    errors: [],
  }),
};
