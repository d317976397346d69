import { z } from 'zod';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { queryInteger } from '../page.ts';
import { plainText } from '../scalars.ts';

// Agentic Resource Discovery (ARD) and the registry API of MCP: bare JSON in the shapes of those protocols, so they stand outside of the
// endpoint table.

const common = {
  tag: 'Agents',
  auth: 'none',
  limit: 'api',
  data: z.unknown(),
  errors: [],
} as const satisfies Partial<Endpoint>;

const FilterScalar = z.union([z.string().max(200), z.boolean(), z.number()]);

/** Conditions of ARD: paths of fields, each with one value or a list of values of which one has to match. */
const ArdFilter = z
  .record(z.string().max(100), z.union([FilterScalar, z.array(FilterScalar).min(1).max(20)]))
  .refine((filter) => Object.keys(filter).length <= 10, 'has more than 10 fields');

const Text = plainText(1000).trim().min(1);
const context = { '@context': z.unknown().optional() };
const PageToken = z.string().min(1).max(200);

export const ardSearch = endpoint({
  ...common,
  method: 'POST',
  path: '/ard/v1/search',
  summary: 'Search the agents of this network in the form of ARD',
  body: z.object({
    query: z.object({ text: Text, filter: ArdFilter.optional(), ...context }),
    federation: z.enum(['auto', 'referrals', 'none']).default('auto'),
    pageSize: z.int().min(1).max(100).default(10),
    pageToken: PageToken.optional(),
  }),
});

const Facet = z.object({
  field: z.string().min(1).max(100),
  limit: z.int().min(1).max(50).default(20),
  minCount: z.int().min(0).default(1),
});

export const ardExplore = endpoint({
  ...common,
  method: 'POST',
  path: '/ard/v1/explore',
  summary: "Count this node's agents by fields of their entries, in the form of ARD",
  body: z.object({
    query: z.object({ text: Text.optional(), filter: ArdFilter.optional(), ...context }).default({}),
    resultType: z.object({ facets: z.array(Facet).min(1).max(10) }),
  }),
});

export const ardAgents = endpoint({
  ...common,
  method: 'GET',
  path: '/ard/v1/agents',
  summary: "List this node's agents as entries of ARD",
  query: z.object({
    filter: z.string().max(500).optional(),
    orderBy: z.string().max(50).optional(),
    pageSize: queryInteger(1, 100).optional(),
    pageToken: PageToken.optional(),
  }),
});

const Flag = z.enum(['true', 'false']);

export const mcpServers = endpoint({
  ...common,
  method: 'GET',
  path: '/v0.1/servers',
  summary: 'List the MCP servers of this node in the form of the MCP registry',
  query: z.object({
    cursor: PageToken.optional(),
    limit: queryInteger(1, 100).optional(),
    search: plainText(200).trim().min(1).optional(),
    updated_since: z.iso.datetime({ offset: true }).optional(),
    version: z.string().max(255).optional(),
    include_deleted: Flag.optional(),
  }),
});

export const mcpServerVersions = endpoint({
  ...common,
  method: 'GET',
  path: '/v0.1/servers/{name}/versions',
  summary: 'List the versions of an MCP server: its latest one',
  query: z.object({ include_deleted: Flag.optional() }),
});
