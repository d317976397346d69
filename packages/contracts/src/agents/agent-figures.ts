import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { PercentileMs, PeriodDays } from '../invocations/figures.ts';
import { AgentRef, Fraction, Id, plainText, Timestamp } from '../scalars.ts';
import { CapabilityList, limitParams, textFilters } from './agent-search.ts';
import { AgentListItem, agentEndpoints } from './agents.ts';

const Count = z.int().min(0);
const params = z.object({ id: AgentRef });
const { capability, maxPrice, minReputation, status } = agentEndpoints.listAgents.query.shape;

const CapabilityNames = z
  .string()
  .max(1400)
  .transform((names) => names.split(','))
  .pipe(CapabilityList);

/** Each facet ignores its own filter: its counts are those of a list with that value instead. */
export const AgentFacets = z.object({
  total: Count.describe('With all filters.'),
  capabilities: z
    .array(z.object({ value: z.string(), count: Count }))
    .describe(
      'The 50 most frequent capabilities, of the 300 most common in the network; each in combination with those of `all`.',
    ),
  status: z.object({ online: Count, offline: Count }),
  verified: z.object({ yes: Count, no: Count }),
  locations: z
    .array(z.object({ value: z.string(), nodeId: Id.nullable().describe('null: this node.'), count: Count }))
    .describe('Home nodes of the agents.'),
});
export type AgentFacets = z.infer<typeof AgentFacets>;

const HealthBucket = z.object({
  from: Timestamp,
  checks: Count,
  failed: Count,
  uptime: Fraction.nullable().describe('The share of checks that were answered; null: there were none.'),
  p50Ms: PercentileMs,
  p95Ms: PercentileMs,
});

export const AgentHealth = HealthBucket.omit({ from: true }).extend({
  agentId: Id,
  days: z.int(),
  from: Timestamp,
  to: Timestamp,
  buckets: z.array(HealthBucket).describe('Hours for one day, else days, without gaps, up to the current one.'),
});
export type AgentHealth = z.infer<typeof AgentHealth>;

export const agentFigureEndpoints = {
  getAgentFacets: endpoint({
    method: 'GET',
    path: '/agents/facets',
    summary: 'Count agents by capability, status, home node and verification, for a list with other filters',
    tag: 'Agents',
    auth: 'none',
    isPublic: true,
    limit: 'api',
    fromRegistry: true,
    query: z.object({
      capability,
      any: CapabilityNames.optional().describe('At least one of these, as in a search; commas between.'),
      all: CapabilityNames.optional().describe('Every one of these.'),
      ...textFilters,
      maxPrice,
      ...limitParams,
      minReputation,
      status,
      verified: z.enum(['true', 'false']).optional(),
      text: plainText(200).trim().min(1).optional().describe('Words to find, in the same way as a search by words.'),
    }),
    data: AgentFacets,
    errors: [],
  }),
  getAgentHealth: endpoint({
    method: 'GET',
    path: '/agents/{id}/health',
    summary: 'Read the uptime and response times of an agent over time',
    tag: 'Agents',
    auth: 'none',
    limit: 'api',
    params,
    query: z.object({ days: PeriodDays.optional() }),
    data: AgentHealth,
    errors: [],
  }),
  listAlternatives: endpoint({
    method: 'GET',
    path: '/agents/{id}/alternatives',
    summary: 'List at most five online agents that could replace this one, the most similar first',
    tag: 'Agents',
    auth: 'none',
    isPublic: true,
    limit: 'api',
    fromRegistry: true,
    params,
    data: z.object({ agents: z.array(AgentListItem.extend({ similarity: Fraction })) }),
    errors: [],
  }),
};
