import { z } from 'zod';
import { Duration, Fraction, Id, Usdc } from '../scalars.ts';
import { Reputation } from './agents.ts';

const part = <Shape extends z.ZodRawShape>(value: string, shape: Shape) =>
  z.object({
    weight: Fraction.describe('Its share of the score.'),
    value: Fraction.describe(value),
    ...shape,
  });

const parts = {
  text: { weight: 0.4, value: 0.875, coverage: 1, credit: 0.875, matched: ['summarise'] },
  reputation: { weight: 0.45, value: 0.75, reputation: 867 },
  price: { weight: 0.08, value: 0.5, price: '0.05', usual: '0.05' },
  latency: { weight: 0.04, value: 0.95, responseTime: '0.25s' },
  load: { weight: 0.03, value: 0.75, load: 0.25 },
};
const score = 0.788;

/** The parts of a match score. The sum of weight times value is the score. */
export const MatchParts = z
  .object({
    text: part('`coverage` times `credit`.', {
      coverage: Fraction.describe(
        'The share of the deciding words that the agent has, rare words counting more. Less for an agent of more than 40 words.',
      ),
      credit: Fraction.describe(
        'Words are claims of the agent: without a record of paid calls they count for half, with the best record in full.',
      ),
      matched: z.array(z.string()).describe('The deciding words that the agent has, the rarest first.'),
    }),
    reputation: part('The points above 467, the most that an agent without paid calls can have, of the 533 possible.', {
      reputation: Reputation,
    }),
    price: part('1 for a free agent, 0.5 at the usual price, towards 0 above it.', {
      price: Usdc.describe('Per request.'),
      usual: Usdc.describe('The median price of the agents considered.'),
    }),
    latency: part('1 for an answer at once, 0 for one that takes five seconds or more, or was never measured.', {
      responseTime: Duration.nullable().describe('null: never measured.'),
    }),
    load: part('1 for an idle agent, 0 for a busy one.', { load: Fraction }),
  })
  .meta({ examples: [parts] });
export type MatchParts = z.infer<typeof MatchParts>;

export const MatchScore = Fraction.describe('The sum of weight times value of the parts.').meta({ examples: [score] });

/** Number of agents that a choice was made from. */
export const Considered = z
  .int()
  .min(0)
  .describe('Online agents that match the task and the capabilities, at any price, and that the caller may call.')
  .meta({ examples: [12] });

/** The agent that the node chose for a task, and why. */
export const Chosen = z
  .object({
    agentId: Id,
    score: MatchScore,
    rank: z
      .int()
      .min(1)
      .nullable()
      .describe(
        'Its place among the agents within `maxCost`, in the order in which they were looked at: above 1 when a better one could not be called. null: the caller paid the offer that had named it, whatever its place was by then.',
      ),
    considered: Considered,
    parts: MatchParts,
  })
  .meta({ examples: [{ agentId: 'agt_01k9xq3v7m2n8p4r6t0w5y1zab', score, rank: 1, considered: 12, parts }] });
export type Chosen = z.infer<typeof Chosen>;
