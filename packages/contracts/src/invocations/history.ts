import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { cursorOrOffsetQuery, dayQuery } from '../page.ts';
import { Duration, Id, plainText, Timestamp, Usdc } from '../scalars.ts';
import { failureReasons, RequestedAgentId, requestStatuses } from './invocations.ts';

const HistoryItem = z.object({
  requestId: Id,
  agentId: Id,
  requestedAgentId: RequestedAgentId,
  task: z.string(),
  status: z.enum(requestStatuses),
  cost: Usdc.nullable(),
  duration: Duration.nullable(),
  createdAt: Timestamp,
  completedAt: Timestamp.nullable(),
  agentName: z.string(),
  paymentMethod: z.enum(['treasury', 'x402', 'free']),
  refund: Usdc.nullable(),
  errorCode: z.enum(failureReasons).nullable(),
  bulkId: Id.nullable(),
});
export type HistoryItem = z.infer<typeof HistoryItem>;

export const historyEndpoints = {
  listInvocations: endpoint({
    method: 'GET',
    path: '/invoke/history',
    summary: 'Your requests, newest first',
    tag: 'Invocation',
    auth: 'key',
    scope: 'invoke',
    limit: 'api',
    query: z.object({
      agentId: Id.optional(),
      bulkId: Id.optional(),
      status: z.enum(requestStatuses).optional(),
      search: plainText(200)
        .optional()
        .describe('Text in the task or in the name of the agent, in any case; among the latest 10,000 other matches.'),
      contextId: z
        .string()
        .max(256)
        // biome-ignore lint/suspicious/noControlCharactersInRegex: refusing control characters is the point
        .regex(/^[^\u0000-\u001f\u007f-\u009f]*$/, 'holds control characters')
        .optional()
        .describe('Of requests that came as tasks of A2A: their context.'),
      changedAfter: Timestamp.optional().describe('The status changed last at this time or later.'),
      ...dayQuery,
      ...cursorOrOffsetQuery,
      limit: cursorOrOffsetQuery.limit.describe(
        'Default 20; a page of large tasks has fewer. The next one begins at `nextCursor`, or at `offset` plus the number in this one.',
      ),
    }),
    data: z.object({
      requests: z.array(HistoryItem),
      total: z.int().min(0),
      totalCost: Usdc.describe('Total of all matching requests, not only of this page.'),
      hasMore: z.boolean(),
      nextCursor: z.string().nullable(),
    }),
    errors: [],
  }),
};
