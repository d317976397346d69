import { z } from 'zod';
import { LimitUse, Plan } from '../access/access.ts';
import { AgentListItem, agentStatuses } from '../agents/agents.ts';
import { endpoint } from '../endpoint.ts';
import { cursorQuery, pageQuery } from '../page.ts';
import { Fraction, Id, Timestamp, Usdc } from '../scalars.ts';
import { failureReasons } from './invocations.ts';

const Count = z.int().min(0);

/** `days` of a query: the day of now is the last of them, in UTC. */
export const PeriodDays = z
  .enum(['1', '7', '30'])
  .transform(Number)
  .pipe(z.int().min(1).max(30))
  .describe('Days in UTC, with today: 1, 7 (default) or 30.');

/** A percentile of calls or checks, in milliseconds; null when there were none. */
export const PercentileMs = z
  .number()
  .min(0)
  .nullable()
  .describe('In milliseconds, within 4.5 % of the exact value; null: nothing was measured.');

const CallFigures = z.object({
  calls: Count.describe('Requests made in this time that have ended.'),
  succeeded: Count,
  failed: Count.describe('Without those that were cancelled.'),
  successRate: Fraction.nullable().describe('Of those that succeeded or failed; null: of none.'),
  p50Ms: PercentileMs,
  p95Ms: PercentileMs,
});

const Bucket = z.object({
  from: Timestamp,
  calls: Count,
  failed: Count,
  spent: Usdc,
  earned: Usdc,
  p50Ms: PercentileMs,
  p95Ms: PercentileMs,
});

const CurrentLimits = z.object({
  plan: Plan,
  api: LimitUse,
  invocations: LimitUse,
  spending: z
    .object({ perCall: Usdc.nullable(), perDay: Usdc.nullable(), spentToday: Usdc })
    .nullable()
    .describe('What the key may spend, and has spent today (UTC); null: it has no such limits.'),
});

/** Spending and earnings of an account by the time of its requests. Equal to the ledger, to the last micro-USDC. */
export const Overview = CallFigures.extend({
  days: z.int(),
  from: Timestamp,
  to: Timestamp,
  spent: Usdc.describe('What the requests cost: charges and bills, less what came back.'),
  earned: Usdc.describe('What own agents earned with calls made in this time, less fees.'),
  buckets: z.array(Bucket).describe('Hours for one day, else days, without gaps, up to the one that is not over yet.'),
  received: CallFigures.extend({ earned: Usdc }).describe('Calls to own agents, whoever made them.'),
  recentFailures: z
    .array(
      z.object({
        requestId: Id,
        agentId: Id,
        agentName: z.string(),
        code: z.enum(failureReasons),
        message: z.string(),
        at: Timestamp,
      }),
    )
    .describe('The ten requests that failed last, among the last thousand that were made.'),
  limits: CurrentLimits,
});
export type Overview = z.infer<typeof Overview>;

export const OwnAgent = AgentListItem.omit({ status: true }).extend({
  description: z.string(),
  endpoint: z.string(),
  status: z.enum(agentStatuses),
  frozen: z.boolean(),
  verification: z.object({
    endpointProvenAt: Timestamp.nullable(),
    walletProvenAt: Timestamp.nullable(),
    tokenId: z.string().nullable().describe('Its token in the registry; null: it has none yet.'),
    tokenClaimedAt: Timestamp.nullable().describe("When its owner's wallet got the token; null: the node holds it."),
    lastCheckAt: Timestamp.nullable(),
    nextCheckAt: Timestamp.nullable(),
  }),
  treasuryId: Id.nullable(),
  balance: z.object({ available: Usdc, held: Usdc }),
  earned: z
    .object({ today: Usdc, days7: Usdc, days30: Usdc })
    .describe('With calls made in these days (UTC, with today), less fees.'),
  calls7: Count.describe('Calls made in 7 days that have ended.'),
  failures7: Count,
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type OwnAgent = z.infer<typeof OwnAgent>;

export const figureEndpoints = {
  getOverview: endpoint({
    method: 'GET',
    path: '/account/overview',
    summary: 'What the account spent, earned and had done, in figures and as a course over time',
    tag: 'Account',
    auth: 'key',
    scope: 'payments:read',
    limit: 'api',
    query: z.object({ days: PeriodDays.optional() }),
    data: Overview,
    errors: [],
  }),
  listOwnAgents: endpoint({
    method: 'GET',
    path: '/account/agents',
    summary: 'Your agents, whatever their state, newest first, with what they earned',
    tag: 'Account',
    auth: 'key',
    scope: 'payments:read',
    limit: 'api',
    query: z.object({
      agentId: Id.optional().describe('Only this one, if it is yours.'),
      ...cursorQuery,
      limit: pageQuery.limit,
    }),
    data: z.object({
      agents: z.array(OwnAgent),
      total: Count,
      hasMore: z.boolean(),
      nextCursor: z.string().nullable(),
    }),
    errors: [],
  }),
};
