import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { cursorQuery, pageQuery, queryInteger } from './page.ts';
import { Duration, Id, JsonObject, plainText, Timestamp, TransactionHash, Usdc, webUrl } from './scalars.ts';

export const priorities = ['low', 'normal', 'high'] as const;
export type Priority = (typeof priorities)[number];

export const requestStatuses = ['pending', 'processing', 'completed', 'failed', 'cancelled'] as const;
export type RequestStatus = (typeof requestStatuses)[number];

const capAliases = ['maxCost', 'max_cost', 'max_spend'] as const;

/** Folds the spec's aliases of the spending cap into `maxCost`; forms that disagree are refused, as nobody can tell which is meant. */
function foldCap<T extends Partial<Record<(typeof capAliases)[number], string | undefined>>>(
  body: T,
  problems: z.core.$RefinementCtx,
): Omit<T, 'max_cost' | 'max_spend'> & { maxCost?: string | undefined } {
  const { max_cost: _snake, max_spend: _spend, ...rest } = body;
  const given = capAliases.flatMap((name) => (body[name] === undefined ? [] : [body[name]]));
  if (new Set(given).size > 1)
    problems.addIssue({ code: 'custom', path: ['maxCost'], message: 'maxCost and its aliases have different values' });
  return given[0] === undefined ? rest : { ...rest, maxCost: given[0] };
}

const Task = plainText(100_000).min(1);

/** Body of POST /invoke/{agentId} (spec, "Invocation request body"). */
export const InvocationRequest = z
  .object({
    task: Task,
    input: JsonObject.default({}),
    maxCost: Usdc.optional().describe('The most this call may cost. Nothing is charged above it.'),
    max_cost: Usdc.optional().describe('Alias of maxCost.'),
    max_spend: Usdc.optional().describe('Alias of maxCost.'),
    priority: z.enum(priorities).default('normal'),
    deadline: Timestamp.optional().describe('Default: ten minutes from now; at most 24 hours from now.'),
    metadata: JsonObject.default({}),
    context: plainText(100_000).optional(),
    webhookUrl: webUrl(2048)
      .optional()
      .describe('Called when the request has ended; signed with the webhook secret of the account.'),
    stream: z.boolean().default(false).describe('With `Accept: text/event-stream`: the answer is a stream of events.'),
  })
  .transform(foldCap);
export type InvocationRequest = z.output<typeof InvocationRequest>;

const Quote = z.object({
  quoteId: Id,
  estimatedCost: Usdc,
  estimatedTime: z.string(),
  breakdown: z.object({ base_fee: Usdc, complexity_multiplier: z.string(), total: Usdc }),
  validUntil: Timestamp,
  acceptUrl: z.string(),
});
export type Quote = z.infer<typeof Quote>;

/** Invocation created (spec). `pending`: accepted and queued; `processing`: the agent has been called. */
export const InvocationCreated = z.object({
  requestId: Id,
  status: z.enum(requestStatuses),
  estimatedCost: Usdc,
  estimatedTime: z.string(),
  deadline: Timestamp,
  agentId: Id,
  createdAt: Timestamp,
});
export type InvocationCreated = z.infer<typeof InvocationCreated>;

/** Events of a stream; exactly one of the last three ends it. */
export const streamEventTypes = [
  'invocation.created',
  'invocation.status',
  'invocation.chunk',
  'invocation.completed',
  'invocation.failed',
  'invocation.cancelled',
] as const;
export type StreamEventType = (typeof streamEventTypes)[number];

/** Why an invocation failed. A closed set: a client may act on it. */
export const failureReasons = [
  'agent_error',
  'agent_unreachable',
  'deadline_exceeded',
  'invalid_response',
  'response_too_large',
  'agent_redirected',
  'agent_removed',
  'payment_failed',
] as const;
export type FailureReason = (typeof failureReasons)[number];

/** Request record (spec), with how it was paid, what was refunded and why it failed beside it. */
export const RequestRecord = z.object({
  requestId: Id,
  status: z.enum(requestStatuses),
  agentId: Id,
  task: z.string(),
  result: z.unknown().describe('What the agent returned; null until completed.'),
  cost: Usdc.nullable(),
  duration: Duration.nullable(),
  paymentHash: TransactionHash.nullable().describe(
    'The transaction that paid; null when paid from a treasury or free.',
  ),
  createdAt: Timestamp,
  completedAt: Timestamp.nullable(),
  deadline: Timestamp,
  priority: z.enum(priorities),
  metadata: JsonObject,
  paymentMethod: z.enum(['treasury', 'x402', 'free']),
  refund: Usdc.nullable().describe('What went back to the payer; null while open.'),
  error: z.object({ code: z.enum(failureReasons), message: z.string() }).nullable(),
  bulkId: Id.nullable(),
});
export type RequestRecord = z.infer<typeof RequestRecord>;

/** What a calling agent gets beside the record (spec, "agent-to-agent form"). */
export const AgentToAgentResult = RequestRecord.extend({
  completion_time: Duration.nullable(),
  agent_id: Id,
});

const HistoryItem = z.object({
  requestId: Id,
  agentId: Id,
  task: z.string(),
  status: z.enum(requestStatuses),
  cost: Usdc.nullable(),
  duration: Duration.nullable(),
  createdAt: Timestamp,
});
export type HistoryItem = z.infer<typeof HistoryItem>;

export const bulkStrategies = ['first_success', 'all', 'majority'] as const;
export type BulkStrategy = (typeof bulkStrategies)[number];

/** Body of POST /invoke/bulk (spec, "Bulk request"). The money for all agents is set aside first. */
export const BulkRequest = z.object({
  task: Task,
  input: JsonObject.default({}),
  agents: z
    .array(Id)
    .min(1)
    .max(50)
    .refine((list) => new Set(list).size === list.length, 'names an agent twice'),
  maxCostPerAgent: Usdc.optional(),
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

/** A bulk request as it stands: the spec's result, its own state and, when it has one, its outcome. */
export const BulkRecord = BulkResult.extend({
  status: z.enum(['processing', 'completed', 'failed']),
  result: z
    .unknown()
    .describe("first_success: the winner's result; majority: the agreed result; all: null, read the requests."),
  winner: Id.nullable().describe('The request whose result it is.'),
  cost: Usdc.nullable(),
  createdAt: Timestamp,
  completedAt: Timestamp.nullable(),
});
export type BulkRecord = z.infer<typeof BulkRecord>;

const day = z.iso.date().optional();

const agentParams = z.object({ agentId: Id });
const requestParams = z.object({ requestId: Id });

export const invocationEndpoints = {
  invokeAgent: endpoint({
    method: 'POST',
    path: '/invoke/{agentId}',
    summary: 'Invoke an agent: 402 with terms, paid by x402 or from a treasury, sync or async',
    tag: 'Invocation',
    auth: 'key',
    scope: 'invoke',
    limit: 'invocations',
    params: agentParams,
    query: z.object({ quote: Id.optional().describe('A quote of this agent: its price is used, once.') }),
    headers: z.object({
      accept: z.string().max(1024).optional().describe('text/event-stream, with `stream: true`: a stream of events.'),
      'x-sync': z.enum(['true', 'false']).optional().describe('true: wait up to 30 s for the result.'),
      'x-payment-method': z.enum(['x402', 'treasury']).optional().describe('Forces one way to pay.'),
      'payment-signature': z.string().max(16_384).optional().describe('x402 v2 payment, base64 JSON.'),
      'x-payment': z.string().max(16_384).optional().describe('x402 v1 payment, base64 JSON.'),
    }),
    body: InvocationRequest,
    stream: 'on_request',
    data: z.union([AgentToAgentResult, RequestRecord, InvocationCreated]),
    errors: ['PAYMENT_REQUIRED', 'INSUFFICIENT_FUNDS', 'INSUFFICIENT_BALANCE', 'AGENT_UNAVAILABLE', 'PAYMENT_PENDING'],
  }),
  quoteInvocation: endpoint({
    method: 'POST',
    path: '/invoke/{agentId}/quote',
    summary: 'What a call would cost: the price is locked for 15 minutes and can be used once',
    tag: 'Invocation',
    auth: 'key',
    scope: 'invoke',
    limit: 'api',
    params: agentParams,
    body: z.object({ task: Task, input: JsonObject.default({}) }),
    data: Quote,
    errors: [],
  }),
  getInvocation: endpoint({
    method: 'GET',
    path: '/invoke/{requestId}',
    summary: 'Read one of your requests: its state and, when completed, its result',
    tag: 'Invocation',
    auth: 'key',
    scope: 'invoke',
    limit: 'api',
    params: requestParams,
    data: RequestRecord,
    errors: [],
  }),
  cancelInvocation: endpoint({
    method: 'POST',
    path: '/invoke/{requestId}/cancel',
    summary: 'Cancel a request of yours that is still open; its money goes back',
    tag: 'Invocation',
    auth: 'key',
    scope: 'invoke',
    limit: 'api',
    params: requestParams,
    data: z.object({ requestId: Id, cancelled: z.literal(true), refund: Usdc, reason: z.string() }),
    errors: [],
  }),
  streamInvocation: endpoint({
    method: 'GET',
    path: '/invoke/{requestId}/events',
    summary: 'The events of one of your requests, from the start or after `Last-Event-ID`, until it has ended',
    tag: 'Invocation',
    auth: 'key',
    scope: 'invoke',
    limit: 'api',
    params: requestParams,
    query: z.object({
      after: queryInteger(0, 9_999_999).optional().describe('Like Last-Event-ID, for who can set no header.'),
    }),
    headers: z.object({
      'last-event-id': z
        .string()
        .regex(/^\d{1,7}$/, 'is not the id of an event')
        .optional(),
    }),
    stream: 'always',
    data: z.null(),
    errors: [],
  }),
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
      status: z.enum(requestStatuses).optional(),
      startDate: day.describe('First day, UTC (YYYY-MM-DD).'),
      endDate: day.describe('Last day, UTC, included.'),
      ...cursorQuery,
      ...pageQuery,
    }),
    data: z.object({
      requests: z.array(HistoryItem),
      total: z.int().min(0),
      totalCost: Usdc.describe('Of all requests that match, not of this page only.'),
      hasMore: z.boolean(),
      nextCursor: z.string().nullable(),
    }),
    errors: [],
  }),
  invokeBulk: endpoint({
    method: 'POST',
    path: '/invoke/bulk',
    summary: 'One task for several agents, paid from a treasury',
    tag: 'Invocation',
    auth: 'key',
    scope: 'invoke',
    limit: 'invocations',
    body: BulkRequest,
    data: BulkResult,
    errors: ['INSUFFICIENT_FUNDS', 'INSUFFICIENT_BALANCE', 'AGENT_UNAVAILABLE', 'NOT_FOUND'],
  }),
  getBulk: endpoint({
    method: 'GET',
    path: '/invoke/bulk/{bulkId}',
    summary: 'How a bulk request of yours stands, and its outcome',
    tag: 'Invocation',
    auth: 'key',
    scope: 'invoke',
    limit: 'api',
    params: z.object({ bulkId: Id }),
    data: BulkRecord,
    errors: [],
  }),
};
