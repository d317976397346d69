import { z } from 'zod';
import { Capability } from '../agents/agent-search.ts';
import { Chosen } from '../agents/match-score.ts';
import { endpoint } from '../endpoint.ts';
import {
  AgentRef,
  Duration,
  Id,
  JsonObject,
  PaymentSchemes,
  plainText,
  Timestamp,
  TransactionHash,
  Usdc,
  UsdcInput,
  viaHeader,
  webUrl,
} from '../scalars.ts';
import { foldCap } from './spending-cap.ts';
import { answerHeaders, InputAnswer, interactiveFields, requireInteractive, turnFields } from './turns.ts';
import { CallUsage, UsageComparison } from './usage.ts';

export const priorities = ['low', 'normal', 'high'] as const;
export type Priority = (typeof priorities)[number];
export const requestStatuses = ['pending', 'processing', 'input_required', 'completed', 'failed', 'cancelled'] as const;
export type RequestStatus = (typeof requestStatuses)[number];
/** Statuses of a request that has not ended. `input_required`: its agent has asked back, and it waits for an answer. */
export const openStatuses: readonly RequestStatus[] = ['pending', 'processing', 'input_required'];

/** The task for an agent, in words. */
export const Task = plainText(100_000).min(1);
/** Characters that stay of a longer task when the contents of its request are removed. */
export const KEPT_TASK_CHARACTERS = 1000;

/** The capability that a call is for. */
export const CallCapability = Capability.optional().describe(
  'The capability of the agent that the call is for: its schemas, where the agent declares some, are used. Absent: those of the agent as a whole.',
);

export const InvocationBody = z.object({
  task: Task,
  input: JsonObject.default({}),
  // Without a default: bodies from before it was known keep their fingerprint.
  capability: CallCapability,
  maxCost: UsdcInput.optional().describe('Maximum cost of this call. Nothing is charged above it.'),
  max_cost: UsdcInput.optional().describe('Alias of maxCost.'),
  max_spend: UsdcInput.optional().describe('Alias of maxCost.'),
  priority: z.enum(priorities).default('normal'),
  deadline: Timestamp.optional().describe(
    'At most 24 hours from now. Default: ten minutes from now; five when the caller waits for the result (`X-Sync: true`, or paid with the call and no `webhookUrl`).',
  ),
  metadata: JsonObject.default({}),
  context: plainText(100_000).optional(),
  webhookUrl: webUrl(2048)
    .optional()
    .describe('Called when the request ends; signed with the webhook secret of the account.'),
  stream: z.boolean().default(false).describe('With `Accept: text/event-stream`: the answer is a stream of events.'),
  // Without a default: bodies from before it was known keep their fingerprint.
  fallback: z
    .boolean()
    .optional()
    .describe(
      'true: when the agent is unavailable, call the most similar available one instead, for at most `maxCost`, or the price of the requested agent.',
    ),
  ...interactiveFields,
});

/** Body of POST /invoke/{agentId} (spec, "Invocation request body"). */
export const InvocationRequest = InvocationBody.transform((body, problems) =>
  foldCap(requireInteractive(body, problems), problems),
);
export type InvocationRequest = z.output<typeof InvocationRequest>;

/** Shown with `agentId` in every view of a request. */
export const RequestedAgentId = Id.nullable().describe(
  'The requested agent, when `agentId` replaced it (`fallback`); else null.',
);

const ChosenIfAuto = Chosen.optional().describe('The agent that the node chose, and why: only of POST /invoke/auto.');

/** Invocation created (spec). `pending`: accepted and queued; `processing`: the agent has been called. */
export const InvocationCreated = z.object({
  requestId: Id,
  status: z.enum(requestStatuses),
  estimatedCost: Usdc,
  estimatedTime: z.string(),
  deadline: Timestamp,
  agentId: Id,
  requestedAgentId: RequestedAgentId,
  createdAt: Timestamp,
  chosen: ChosenIfAuto,
});
export type InvocationCreated = z.infer<typeof InvocationCreated>;

/** Reasons of a failed invocation. A closed set: a client may act on it. */
export const failureReasons = [
  'agent_error',
  'agent_unreachable',
  'deadline_exceeded',
  'invalid_response',
  'response_too_large',
  'agent_redirected',
  'agent_removed',
  'agent_needs_input',
  'payment_failed',
  'bill_too_high',
  'bill_not_payable',
  'bill_repeated',
  'result_invalid',
  'input_invalid',
  'node_restored',
  'input_timeout',
  'input_declined',
] as const;
export type FailureReason = (typeof failureReasons)[number];

/** Reasons of an invocation's end, for operators: a failure, a cancellation, or a cost below the price. */
export const endReasons = [
  ...failureReasons,
  'cancelled_by_caller',
  'bulk_decided',
  'cancelled',
  'cost_below_price',
] as const;
export type EndReason = (typeof endReasons)[number];

/** Request record (spec), extended by the payment, the refund and the error. */
export const RequestRecord = z.object({
  requestId: Id,
  status: z.enum(requestStatuses),
  agentId: Id,
  requestedAgentId: RequestedAgentId,
  task: z.string(),
  result: z.unknown().describe("The agent's result; null until completed."),
  cost: Usdc.nullable().describe(
    'The amount charged. An agent that bills directly has some minutes to collect its bill: until then the bill counts as charged.',
  ),
  duration: Duration.nullable(),
  usage: CallUsage.optional().describe('Usage of the call, once it has ended; absent if unknown.'),
  paymentHash: TransactionHash.nullable().describe(
    'The transaction that paid; null when paid from a treasury or free.',
  ),
  createdAt: Timestamp,
  completedAt: Timestamp.nullable(),
  deadline: Timestamp.describe('While a question is open: when it expires.'),
  priority: z.enum(priorities),
  metadata: JsonObject,
  paymentMethod: z.enum(['treasury', 'x402', 'free']),
  refund: Usdc.nullable().describe('Amount refunded to the payer; null while open.'),
  refundExpected: Usdc.nullable().describe(
    'Refund of another node for its agent that has not arrived yet. It is part of `cost` until then.',
  ),
  error: z.object({ code: z.enum(failureReasons), message: z.string() }).nullable(),
  bulkId: Id.nullable(),
  contentRemovedAt: Timestamp.optional().describe(
    `Time at which \`result\`, \`input\` and \`context\` were removed by retention, with metadata of more than 4 KiB (but for its A2A context and message) and all but the first ${KEPT_TASK_CHARACTERS} characters of the task.`,
  ),
  chosen: ChosenIfAuto,
  ...turnFields,
  progress: z
    .object({
      fraction: z.number().min(0).max(1).optional(),
      message: z.string().optional(),
      at: Timestamp,
    })
    .optional()
    .describe("The agent's newest report."),
});
export type RequestRecord = z.infer<typeof RequestRecord>;

/** Timeline of a request, without the agent's own output: payments, execution, end, refunds. */
const timelineEvents = [
  'created',
  'payment_shown',
  'payment_settled',
  'payment_failed',
  'started',
  'bill_signed',
  'bill_collected',
  'bill_returned',
  'completed',
  'failed',
  'cancelled',
  'refund_signed',
  'refund_settled',
] as const;

/** Additional fields of a single request. */
const RequestDetail = z.object({
  input: JsonObject,
  context: z.string().nullable(),
  webhookUrl: z.string().nullable(),
  streamed: z.boolean(),
  startedAt: Timestamp.nullable(),
  callerAgentId: Id.nullable().describe('The agent of the account that made it; null: an API key did.'),
  price: Usdc.describe('The agreed price: the maximum cost.'),
  usage: UsageComparison.optional().describe(
    'How the quantities that the agent or its upstream claims compare with its own earlier calls through this node.',
  ),
  attempts: z
    .int()
    .min(1)
    .describe('Number of processes that started it: more than one when one stopped, or waited for capacity.'),
  timeline: z.array(
    z.object({
      at: Timestamp,
      event: z.enum(timelineEvents),
      amount: Usdc.nullable(),
      transactionHash: TransactionHash.nullable(),
      reason: z.string().nullable(),
    }),
  ),
});
export type RequestDetail = z.infer<typeof RequestDetail>;
export type TimelineEvent = (typeof timelineEvents)[number];

/** Fields that a calling agent gets in addition to the record (spec, "agent-to-agent form"). */
export const AgentToAgentResult = RequestRecord.extend({
  completion_time: Duration.nullable(),
  agent_id: Id,
});

/** Answers to the start of an invocation. */
export const InvocationResult = z.union([AgentToAgentResult, RequestRecord, InvocationCreated]);

export const invocationHeaders = z.object({
  accept: z.string().max(1024).optional().describe('text/event-stream, with `stream: true`: a stream of events.'),
  'x-sync': z.enum(['true', 'false']).optional().describe('true: wait up to 30 s for the result.'),
  'x-payment-method': z.enum(['x402', 'treasury']).optional().describe('Forces a payment method.'),
  'x-payment-scheme': PaymentSchemes.optional().describe(
    'Schemes that the client can pay by beside `exact`, separated by commas.',
  ),
  'payment-signature': z.string().max(16_384).optional().describe('x402 payment, base64 JSON.'),
  'x-payment': z
    .string()
    .max(16_384)
    .optional()
    .describe('x402 payment, base64 JSON, under the header name of x402 v1.'),
});

/** For clients that choose only the address: `X-Payment-Scheme` in the query. */
export const paymentQuery = z.object({
  paymentScheme: PaymentSchemes.optional().describe('The header `X-Payment-Scheme`, for clients that cannot set it.'),
});

export const invocationErrors = [
  'FILE_NOT_FOUND',
  'STORAGE_LIMIT_EXCEEDED',
  'PAYMENT_REQUIRED',
  'SPENDING_LIMIT_EXCEEDED',
  'INSUFFICIENT_FUNDS',
  'INSUFFICIENT_BALANCE',
  'AGENT_UNAVAILABLE',
  'PAYMENT_PENDING',
] as const;

const requestParams = z.object({ requestId: Id });

/** By these a caller without an API key shows that a request is theirs. */
export const keylessReadHeaders = z.object({
  'x-result-token': z
    .string()
    .regex(/^anr_[\w-]{43}$/, 'is not a resultToken')
    .optional()
    .describe('Without a key: the `resultToken` that came with the answer to the call.'),
  'sign-in-with-x': z
    .string()
    .max(8192)
    .regex(/^[A-Za-z0-9+/]{64,}={0,2}$/, 'is not base64 of a sign-in')
    .optional()
    .describe(
      'Without a key: the wallet that paid, signed in for this address (x402 extension `sign-in-with-x`, base64 JSON). Good once, for five minutes.',
    ),
});

export const invocationEndpoints = {
  invokeAgent: endpoint({
    method: 'POST',
    path: '/invoke/{agentId}',
    summary: 'Invoke an agent: 402 with terms, paid by x402 or from a treasury, sync or async',
    tag: 'Invocation',
    auth: 'key',
    scope: 'invoke',
    limit: 'invocations',
    params: z.object({ agentId: AgentRef }),
    query: paymentQuery.extend({
      quote: Id.optional().describe('A quote of this agent, whose price is used. A quote is valid once.'),
    }),
    headers: invocationHeaders.extend({
      'x-agent-network-via': viaHeader.describe(
        'The node that forwards the call. A call is forwarded once: only agents of this node accept it.',
      ),
    }),
    body: InvocationRequest,
    stream: 'on_request',
    data: InvocationResult,
    errors: invocationErrors,
  }),
  getInvocation: endpoint({
    method: 'GET',
    path: '/invoke/{requestId}',
    summary: 'Read your request: its state and, when completed, its result',
    tag: 'Invocation',
    auth: 'key',
    keyless: 'reads',
    scope: 'invoke',
    limit: 'api',
    params: requestParams,
    headers: keylessReadHeaders,
    query: z.object({
      detail: z.enum(['true', 'false']).optional().describe('true: adds `detail`: the input, and a timeline.'),
    }),
    data: RequestRecord.extend({ detail: RequestDetail.optional() }),
    errors: [],
  }),
  cancelInvocation: endpoint({
    method: 'POST',
    path: '/invoke/{requestId}/cancel',
    summary: 'Cancel your open request; its payment is refunded',
    tag: 'Invocation',
    auth: 'key',
    keyless: 'answers',
    scope: 'invoke',
    limit: 'api',
    params: requestParams,
    headers: answerHeaders,
    data: z.object({ requestId: Id, cancelled: z.literal(true), refund: Usdc, reason: z.string() }),
    errors: ['PAYMENT_PENDING'],
  }),
  answerInput: endpoint({
    method: 'POST',
    path: '/invoke/{requestId}/input',
    summary: 'Answer the question of the agent that your request waits for',
    tag: 'Invocation',
    auth: 'key',
    keyless: 'answers',
    scope: 'invoke',
    limit: 'api',
    params: requestParams,
    headers: answerHeaders,
    body: InputAnswer,
    data: RequestRecord,
    errors: ['INPUT_ALREADY_ANSWERED', 'INPUT_NOT_REQUIRED', 'INPUT_EXPIRED'],
  }),
};
