import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { AgentRef, Id, JsonObject, plainText, Timestamp, Usdc } from '../scalars.ts';
import { CallCapability, Task } from './invocations.ts';
import { QuotedUsage } from './usage.ts';

const Quote = z.object({
  quoteId: Id,
  estimatedCost: Usdc.describe('The locked price. Of an agent with a price by usage: the most that the call costs.'),
  usage: QuotedUsage.optional(),
  estimatedTime: z.string(),
  endedEarly: Usdc.describe(
    'Cost of the call if it ends without a result after you received some output: ended by its caller, its deadline or a decided bulk request, not by an error of the agent (`metadata.shownShare`).',
  ),
  breakdown: z.object({
    base_fee: Usdc.describe("The agent's price per request.").meta({ examples: ['0.04'] }),
    complexity_multiplier: z
      .string()
      .describe('Of the hint `input.complexity`; `1.0x` unless the agent takes hints (`metadata.priceHints`).'),
    size: z
      .object({
        bytes: z
          .int()
          .min(0)
          .meta({ examples: [20_012] }),
        aboveBytes: z
          .int()
          .min(0)
          .meta({ examples: [16_384] }),
        multiplier: z.string().meta({ examples: ['1.25x'] }),
      })
      .optional()
      .describe(
        'Of an agent with a price by size: the bytes of the call, and the last of its steps that they are above (0: none) with its multiplier.',
      ),
    units: z
      .object({
        unit: z.string().meta({ examples: ['page'] }),
        count: z.int().min(0),
        price: Usdc,
        amount: Usdc,
        maximum: Usdc,
      })
      .optional()
      .describe(
        'Of an agent with a price by units: `amount` is `count` times `price`, at most `maximum`. `total` is the higher of it and the price per request times the multipliers.',
      ),
    total: Usdc,
    explanation: z
      .string()
      .describe('The calculation, for people.')
      .meta({ examples: ['0.04 per request × 1.25 (20,012 bytes, above 16,384) = 0.05 USDC'] }),
  }),
  validUntil: Timestamp,
  acceptUrl: z.string(),
});
export type Quote = z.infer<typeof Quote>;

export const quoteEndpoints = {
  quoteInvocation: endpoint({
    method: 'POST',
    path: '/invoke/{agentId}/quote',
    summary: 'Quote the price of a call: locked for 15 minutes, valid once',
    tag: 'Invocation',
    auth: 'key',
    scope: 'invoke',
    limit: 'api',
    params: z.object({ agentId: AgentRef }),
    body: z.object({
      task: Task,
      input: JsonObject.default({}),
      capability: CallCapability,
      context: plainText(100_000).optional(),
      metadata: JsonObject.optional(),
    }),
    data: Quote,
    errors: [],
  }),
};
