import { z } from 'zod';
import { Reputation } from './agents.ts';
import { endpoint } from './endpoint.ts';
import { Duration, Fraction, Id, Timestamp } from './scalars.ts';

const component = <Shape extends z.ZodRawShape>(value: string, shape: Shape) =>
  z.object({
    weight: Fraction.describe('Its share of the 1000 points.'),
    value: Fraction.describe(value),
    contribution: z
      .int()
      .min(0)
      .max(1000)
      .describe('The points that it gives: weight times value times 1000, rounded.'),
    explanation: z.string().describe('The same in words.'),
    ...shape,
  });

const Amount = z.number().min(0);
const Count = z.int().min(0);

/** What a reputation is made of. The contributions add up to the score. */
export const AgentReputation = z.object({
  agentId: Id,
  score: Reputation,
  formulaVersion: z.int().min(1).describe('Scores of different versions are not comparable.'),
  computedAt: Timestamp,
  components: z.object({
    outcomes: component('A cautious estimate of the share of paid calls that succeed.', {
      calls: z.object({ good: Count, bad: Count }).describe('Paid calls that were looked at.'),
      evidence: z
        .object({ good: Amount, bad: Amount })
        .describe('What they count for, after amounts, age, the caps per payer and the pool; 1 is one full call.'),
      payers: z.object({
        credible: Count,
        weak: Count.describe(
          'Payers that are new, or have paid few other owners: what they say shares one small pool.',
        ),
        linked: Count.describe('Left out: tied to the owner by wallets or money. Their bad outcomes may still count.'),
      }),
      linkedCalls: Count.describe('Calls that were left out with them.'),
      pool: z.object({ offered: Amount, used: Amount }).describe('Evidence of weak payers, and how much of it counts.'),
      halfLifeDays: z.int().min(1).describe('After so many days an outcome counts for half.'),
    }),
    uptime: component('The share of health probes that were answered.', { days: z.int().min(1), probes: Count }),
    latency: component('1 for an answer at once, 0 for one that takes five seconds or more.', {
      responseTime: Duration.nullable().describe('null: never measured.'),
    }),
  }),
});
export type AgentReputation = z.infer<typeof AgentReputation>;

export const reputationEndpoints = {
  getAgentReputation: endpoint({
    method: 'GET',
    path: '/agents/{id}/reputation',
    summary: "What an agent's reputation is made of, component by component",
    tag: 'Agents',
    auth: 'none',
    limit: 'api',
    params: z.object({ id: Id }),
    data: AgentReputation,
    errors: [],
  }),
};
