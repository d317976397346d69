import { z } from 'zod';
import { endpoint, gateways } from '../endpoint.ts';
import { PeriodDays } from '../invocations/figures.ts';
import { failureReasons, requestStatuses } from '../invocations/invocations.ts';
import { CallUsage, UsageComparison } from '../invocations/usage.ts';
import { cursorQuery, pageQuery } from '../page.ts';
import { AgentRef, Id, Timestamp, Usdc } from '../scalars.ts';

/** Kinds of callers that the owner of the called agent sees. */
export const callerKinds = ['account', 'agent', 'wallet', 'node'] as const;
export type CallerKind = (typeof callerKinds)[number];

/** Protocols in which a node receives calls. */
export const callGateways = ['rest', ...gateways] as const;
export type CallGateway = (typeof callGateways)[number];
/** @deprecated The former names, for one version. */
export { callGateways as callFaces };
export type CallFace = CallGateway;

const FailureCode = z.enum(failureReasons);
const params = z.object({ id: AgentRef });

const AgentCallItem = z.object({
  requestId: Id.describe('The id that the endpoint gets with the call (`X-Request-Id`).'),
  caller: z
    .enum(callerKinds)
    .nullable()
    .describe(
      '`account`: with an API key or a session; `agent`: with an identityToken; `wallet`: without a key, paid by x402 or free; `node`: a node of the network for a caller of its own. Null: made before this was recorded.',
    ),
  isOwn: z.boolean().describe("True for calls of the owner's own account."),
  face: z.enum(callGateways).nullable().describe('The way in which it came. Null: made before this was recorded.'),
  status: z.enum(requestStatuses),
  latencyMs: z.int().min(0).nullable().describe('From its start to its end; null: it never began, or has not ended.'),
  cost: Usdc.nullable().describe('The amount charged to the caller, fees included; null while open.'),
  usage: CallUsage.optional().describe('Usage of the call, as in the record of its caller.'),
  usageComparison: UsageComparison.optional().describe(
    'How the quantities that the agent or its upstream claims compare with its last calls through this node.',
  ),
  error: z
    .object({
      code: FailureCode,
      message: z.string().nullable().describe("Null for `payment_failed`, which tells of the caller's money."),
    })
    .nullable(),
  endedEarly: z
    .boolean()
    .describe(
      'True if it ended without a result after its caller had read output, by no error of the agent: `cost` pays for that.',
    ),
  callerEndedEarly: z
    .int()
    .min(0)
    .describe('Number of calls to this agent that the same caller ended early, with this one.'),
  createdAt: Timestamp,
  completedAt: Timestamp.nullable(),
});
export type AgentCallItem = z.infer<typeof AgentCallItem>;

const FailureGroup = z.object({
  code: FailureCode,
  message: z.string().nullable(),
  count: z.int().min(1),
  isAtLeast: z.boolean().describe('True if there are more: the newest 1,000 failures of each code are counted.'),
  lastAt: Timestamp.describe('Time at which the newest of these calls was made.'),
  requestId: Id.describe('The newest of these calls.'),
});
export type FailureGroup = z.infer<typeof FailureGroup>;

const Earned = z.object({
  calls: z.int().min(0).describe('Ended calls that were made in this time.'),
  failed: z.int().min(0),
  earned: Usdc.describe('With calls made in this time, less fees.'),
});

export const agentCallEndpoints = {
  listAgentCalls: endpoint({
    method: 'GET',
    path: '/agents/{id}/calls',
    summary: 'List all calls to your agent, newest first, without what the callers sent',
    tag: 'Agents',
    auth: 'key',
    scope: 'payments:read',
    accountOnly: true,
    limit: 'api',
    params,
    query: z.object({
      status: z.enum(requestStatuses).optional(),
      error: FailureCode.optional().describe('Only calls that failed for this reason.'),
      from: Timestamp.optional().describe('Made at this time or later.'),
      before: Timestamp.optional().describe('Made before this time.'),
      ...cursorQuery,
      limit: pageQuery.limit,
    }),
    data: z.object({
      calls: z.array(AgentCallItem),
      hasMore: z.boolean(),
      nextCursor: z.string().nullable(),
    }),
    errors: [],
  }),
  listAgentErrors: endpoint({
    method: 'GET',
    path: '/agents/{id}/errors',
    summary: 'Group the failed calls to your agent by reason, the most frequent first',
    tag: 'Agents',
    auth: 'key',
    scope: 'payments:read',
    accountOnly: true,
    limit: 'api',
    params,
    query: z.object({ days: PeriodDays.optional() }),
    data: z.object({
      agentId: Id,
      days: z.int(),
      from: Timestamp,
      to: Timestamp,
      groups: z.array(FailureGroup).describe('At most 50.'),
    }),
    errors: [],
  }),
  getAgentEarnings: endpoint({
    method: 'GET',
    path: '/agents/{id}/earnings',
    summary: 'Read the earnings of your agent, by day',
    tag: 'Agents',
    auth: 'key',
    scope: 'payments:read',
    accountOnly: true,
    limit: 'api',
    params,
    query: z.object({ days: PeriodDays.optional().describe('Days in UTC, with today: 1, 7 or 30 (default).') }),
    data: Earned.extend({
      agentId: Id,
      days: z.int(),
      from: Timestamp,
      to: Timestamp,
      withdrawn: Usdc.describe(
        "Sum of what left its treasury: withdrawn to a wallet, or collected to the account's treasury.",
      ),
      buckets: z.array(Earned.extend({ from: Timestamp })).describe('Days (UTC), without gaps, up to today.'),
    }),
    errors: [],
  }),
};
