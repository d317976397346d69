import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { AgentRef, Id, JsonObject, plainText, Timestamp, Usdc, UsdcInput, webUrl } from '../scalars.ts';
import { CallCapability, priorities, requestStatuses, Task } from './invocations.ts';

export const bulkStrategies = ['first_success', 'all', 'majority'] as const;
export type BulkStrategy = (typeof bulkStrategies)[number];

/** Body of POST /invoke/bulk (spec, "Bulk request"). The money for all agents is set aside first. */
export const BulkRequest = z.object({
  task: Task,
  input: JsonObject.default({}),
  capability: CallCapability,
  agents: z
    .array(AgentRef)
    .min(1)
    .max(50)
    .refine((list) => new Set(list).size === list.length, 'names an agent twice'),
  maxCostPerAgent: UsdcInput.optional(),
  strategy: z.enum(bulkStrategies).default('all'),
  priority: z.enum(priorities).default('normal'),
  deadline: Timestamp.optional(),
  metadata: JsonObject.default({}),
  context: plainText(100_000).optional(),
  webhookUrl: webUrl(2048).optional().describe('Called when the bulk request has its outcome.'),
});
export type BulkRequest = z.output<typeof BulkRequest>;

const BulkResult = z.object({
  bulkId: Id,
  requests: z.array(z.object({ agentId: Id, requestId: Id, status: z.enum(requestStatuses) })),
  strategy: z.enum(bulkStrategies),
  estimatedCost: Usdc,
});

/** A bulk request: the spec's result, its state and, once decided, its outcome. */
export const BulkRecord = BulkResult.extend({
  status: z.enum(['processing', 'completed', 'failed']),
  result: z
    .unknown()
    .describe("first_success: the winner's result; majority: the agreed result; all: null, read the requests."),
  winner: Id.nullable().describe('The request that gave the result.'),
  cost: Usdc.nullable(),
  createdAt: Timestamp,
  completedAt: Timestamp.nullable(),
});
export type BulkRecord = z.infer<typeof BulkRecord>;

export const bulkEndpoints = {
  invokeBulk: endpoint({
    method: 'POST',
    path: '/invoke/bulk',
    summary: 'Send one task to several agents, paid from a treasury',
    tag: 'Invocation',
    auth: 'key',
    scope: 'invoke',
    limit: 'invocations',
    body: BulkRequest,
    data: BulkResult,
    errors: [
      'FILE_NOT_FOUND',
      'SPENDING_LIMIT_EXCEEDED',
      'STORAGE_LIMIT_EXCEEDED',
      'INSUFFICIENT_FUNDS',
      'INSUFFICIENT_BALANCE',
      'AGENT_UNAVAILABLE',
      'NOT_FOUND',
    ],
  }),
  getBulk: endpoint({
    method: 'GET',
    path: '/invoke/bulk/{bulkId}',
    summary: 'Read the state and outcome of your bulk request',
    tag: 'Invocation',
    auth: 'key',
    scope: 'invoke',
    limit: 'api',
    params: z.object({ bulkId: Id }),
    data: BulkRecord,
    errors: [],
  }),
};
