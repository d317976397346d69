import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { AgentRef, Duration, Fraction, Id, Timestamp } from '../scalars.ts';
import { Reputation } from './agents.ts';

const component = <Shape extends z.ZodRawShape>(value: string, shape: Shape) =>
  z.object({
    weight: Fraction.describe('Its share of the 1000 points.'),
    value: Fraction.describe(value),
    contribution: z
      .int()
      .min(0)
      .max(1000)
      .describe('Points of this component: weight times value times 1000, rounded.'),
    explanation: z.string().describe('The component in words.'),
    ...shape,
  });

const Amount = z.number().min(0);
const Count = z.int().min(0);

const example = {
  agentId: 'agt_01k9xq3v7m2n8p4r6t0w5y1zab',
  score: 876,
  formulaVersion: 3,
  computedAt: '2026-11-21T10:00:00.000Z',
  components: {
    outcomes: {
      ...{ weight: 0.8, value: 0.845, contribution: 676 },
      explanation:
        '30 of 30 paid calls succeeded, from 10 established and 0 new payers. By a cautious estimate, 84.5% of calls succeed.',
      calls: { good: 30, bad: 0 },
      evidence: { good: 30, bad: 0 },
      payers: { credible: 10, weak: 0, linked: 0 },
      linkedCalls: 0,
      pool: { offered: 0, counted: 0 },
      halfLifeDays: 30,
    },
    uptime: {
      ...{ weight: 0.12, value: 1, contribution: 120, days: 30, probes: 43200 },
      explanation: '100% of 43,200 health probes of the last 30 days succeeded.',
    },
    latency: {
      ...{ weight: 0.08, value: 0.998, contribution: 80, responseTime: '0.012s' },
      explanation: 'The average probe takes 12 ms; five seconds or more give no points.',
    },
  },
};

/** A reputation with its components. Their contributions add up to the score. */
export const AgentReputation = z
  .object({
    agentId: Id,
    score: Reputation,
    formulaVersion: z.int().min(1).describe('Scores of different versions are not comparable.'),
    computedAt: Timestamp,
    components: z.object({
      outcomes: component('A cautious estimate of the share of paid calls that succeed.', {
        calls: z.object({ good: Count, bad: Count }).describe('Paid calls that were evaluated.'),
        evidence: z
          .object({ good: Amount, bad: Amount })
          .describe('Weight of these calls after amounts, age, the caps per payer and the pool; 1 is one full call.'),
        payers: z.object({
          credible: Count,
          weak: Count.describe(
            'Payers that are new, or have paid few other owners: their evidence shares one small pool.',
          ),
          linked: Count.describe(
            'Left out: tied to the owner by wallets or money. Their bad outcomes may still count.',
          ),
        }),
        linkedCalls: Count.describe('Calls of linked payers, left out as well.'),
        pool: z
          .object({ offered: Amount, counted: Amount })
          .describe('Evidence of weak payers, and the part of it that counts.'),
        halfLifeDays: z.int().min(1).describe('Half-life: an outcome counts for half after this many days.'),
      }),
      uptime: component('The share of health probes that were answered.', { days: z.int().min(1), probes: Count }),
      latency: component('1 for an answer at once, 0 for one that takes five seconds or more.', {
        responseTime: Duration.nullable().describe('null: never measured.'),
      }),
    }),
  })
  .meta({ examples: [example] });
export type AgentReputation = z.infer<typeof AgentReputation>;

export const reputationEndpoints = {
  getAgentReputation: endpoint({
    method: 'GET',
    path: '/agents/{id}/reputation',
    summary: "Read an agent's reputation by component",
    tag: 'Agents',
    auth: 'none',
    isPublic: true,
    limit: 'api',
    params: z.object({ id: AgentRef }),
    data: AgentReputation,
    errors: [],
  }),
};
