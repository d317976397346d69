import { z } from 'zod';
import { LimitUse, Plan } from '../access/access.ts';
import { AgentListItem, agentStatuses } from '../agents/agents.ts';
import { AgentProtocolName, OwnUpstream } from '../agents/upstream.ts';
import { endpoint } from '../endpoint.ts';
import { cursorQuery, pageQuery } from '../page.ts';
import { Fraction, Id, Timestamp, TreasuryId, Usdc } from '../scalars.ts';
import { failureReasons } from './invocations.ts';

const Count = z.int().min(0);

/** `days` of a query: the day of now is the last of them, in UTC. */
export const PeriodDays = z
  .enum(['1', '7', '30'])
  .transform(Number)
  .pipe(
    z
      .int()
      .min(1)
      .max(30)
      .meta({ enum: [1, 7, 30] }),
  )
  .describe('Days in UTC, with today: 1, 7 (default) or 30.');

/** A percentile of calls or checks, in milliseconds; null when there were none. */
export const PercentileMs = z
  .number()
  .min(0)
  .nullable()
  .describe('In milliseconds, within 4.5% of the exact value; null: nothing was measured.');

const CallFigures = z.object({
  calls: Count.describe('Ended requests that were made in this time.'),
  succeeded: Count,
  failed: Count.describe('Cancelled requests do not count.'),
  successRate: Fraction.nullable().describe('Share of the calls that succeeded or failed; null: there were none.'),
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
    .describe('Spending limits of the key, and its spending today (UTC); null: it has no such limits.'),
});

/** Spending and earnings of an account by the time of its requests. Equal to the ledger, to the last micro-USDC. */
export const Overview = CallFigures.extend({
  days: z.int(),
  from: Timestamp,
  to: Timestamp,
  spent: Usdc.describe('Cost of the requests: charges and bills, less refunds.'),
  earned: Usdc.describe('Earnings of own agents with calls made in this time, less fees.'),
  buckets: z.array(Bucket).describe('Hours for one day, else days, without gaps, up to the current one.'),
  received: CallFigures.extend({ earned: Usdc }).describe('Calls to own agents by any caller.'),
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
    .describe('The ten latest failures among the last thousand requests.'),
  limits: CurrentLimits,
});
export type Overview = z.infer<typeof Overview>;

/** The reason that an agent does not take calls, with the remedy for its owner. */
const OfflineReason = z.object({
  reason: z.string(),
  at: Timestamp.nullable().describe('Time of the last check; null: none yet.'),
  status: z.int().nullable().describe('HTTP status of the answer to it; null: there was none.'),
  body: z.string().nullable().describe("First 200 characters of that answer on one line, without the owner's secrets."),
  advice: z.string(),
});
export type OfflineReason = z.infer<typeof OfflineReason>;

export const OwnAgent = AgentListItem.omit({ status: true }).extend({
  description: z.string(),
  endpoint: z.string(),
  protocol: AgentProtocolName,
  upstream: OwnUpstream,
  fault: z.string().nullable().describe('Fault of the endpoint that the last check found; null: none.'),
  offline: OfflineReason.nullable()
    .describe('Reason why it is offline; null: it is online.')
    .meta({ examples: [null] }),
  status: z.enum(agentStatuses),
  frozen: z.boolean(),
  verification: z.object({
    endpointProvenAt: Timestamp.nullable(),
    walletProvenAt: Timestamp.nullable(),
    tokenId: z.string().nullable().describe('Its token in the registry; null: it has none yet.'),
    tokenClaimedAt: Timestamp.nullable().describe(
      "Time at which its owner's wallet got the token; null: the node holds it.",
    ),
    lastCheckAt: Timestamp.nullable(),
    nextCheckAt: Timestamp.nullable(),
  }),
  treasuryId: TreasuryId.nullable(),
  balance: z.object({ available: Usdc, held: Usdc }),
  earned: z
    .object({ today: Usdc, days7: Usdc, days30: Usdc })
    .describe('With calls made in these days (UTC, with today), less fees.'),
  calls7: Count.describe('Ended calls that were made in 7 days.'),
  failures7: Count,
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type OwnAgent = z.infer<typeof OwnAgent>;

/** First steps of an account. Each is true once it was taken, as long as the node keeps the record. */
export const AccountProgress = z.object({
  buyer: z.object({
    hasCalled: z.boolean().describe('A call of it has ended.'),
    isFunded: z.boolean().describe('Its own treasury has, or had, money.'),
    hasPaid: z.boolean().describe('One of its calls had a cost.'),
    hasUsedKey: z.boolean().describe('One of its API keys was used, by a program.'),
  }),
  seller: z.object({
    hasAgent: z.boolean().describe('It has an agent at this node.'),
    isVerified: z.boolean().describe('The endpoint of one of them is proven.'),
    wasCalled: z.boolean().describe('A call to one of them has ended.'),
    hasEarned: z.boolean(),
    hasWithdrawn: z.boolean().describe('A withdrawal has arrived.'),
  }),
});
export type AccountProgress = z.infer<typeof AccountProgress>;

export const figureEndpoints = {
  getProgress: endpoint({
    method: 'GET',
    path: '/account/progress',
    summary: 'Read which first steps the account has taken, as a buyer and as a seller',
    tag: 'Account',
    auth: 'key',
    scope: 'payments:read',
    accountOnly: true,
    limit: 'api',
    data: AccountProgress,
    errors: [],
  }),
  getOverview: endpoint({
    method: 'GET',
    path: '/account/overview',
    summary: "Read the account's spending, earnings and calls, in total and over time",
    tag: 'Account',
    auth: 'key',
    scope: 'payments:read',
    accountOnly: true,
    limit: 'api',
    query: z.object({ days: PeriodDays.optional() }),
    data: Overview,
    errors: [],
  }),
  listOwnAgents: endpoint({
    method: 'GET',
    path: '/account/agents',
    summary: 'List your agents in any state, newest first, with their earnings',
    tag: 'Account',
    auth: 'key',
    scope: 'payments:read',
    accountOnly: true,
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
