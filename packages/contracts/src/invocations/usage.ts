import { z } from 'zod';
import { Usdc } from '../scalars.ts';

/** Units that the node knows. Others are the agent's own, and begin with `x-`. */
export const usageUnits = [
  'input_token',
  'cached_input_token',
  'output_token',
  'reasoning_token',
  'second',
  'image',
  'page',
  'character',
  'request',
] as const;

/** Units of one call, and prices of one agent, at most. */
export const MAX_USAGE_UNITS = 16;

export const UsageUnit = z
  .string()
  .regex(
    new RegExp(`^(${usageUnits.join('|')}|x-[a-z0-9][a-z0-9_-]{0,29})$`),
    `is not a unit: ${usageUnits.join(', ')}, or a name of your own that begins with x-`,
  )
  .meta({ examples: ['output_token'] });

/** A quantity: a decimal without a sign and an exponent, of at most 12 digits, six of them decimals. */
export const quantityPattern = /^(?=(\d\.?){1,12}$)(0|[1-9]\d{0,11})(\.\d{1,6})?$/;

/** A price of one unit in USDC: at most 12 decimals, below a million. */
const unitPricePattern = /^(0|[1-9]\d{0,5})(\.\d{1,12})?$/;

export const UnitPrice = z
  .string()
  .regex(unitPricePattern, 'is not a price in USDC with at most 12 decimals')
  .meta({ examples: ['0.0000006'] });

const Quantity = z
  .string()
  .regex(quantityPattern)
  .meta({ examples: ['1200'] });

export const usageSources = ['agent', 'upstream', 'node'] as const;

const tokens =
  '`reasoning_token` is part of `output_token` unless it has a price of its own; `cached_input_token` is counted apart from `input_token`.';

/** Usage of a call: in its record, in its receipt and in all gateways. */
export const CallUsage = z.object({
  units: z
    .array(z.object({ unit: UsageUnit, quantity: Quantity }))
    .max(MAX_USAGE_UNITS)
    .describe(`Quantities of the call. ${tokens}`),
  model: z
    .string()
    .optional()
    .describe('The model, as the agent names it.')
    .meta({ examples: ['small-1'] }),
  durationMs: z
    .int()
    .min(0)
    .describe('Time of the call, as the node measured it.')
    .meta({ examples: [5321] }),
  measured: z
    .object({ inputBytes: z.int().min(0), resultBytes: z.int().min(0) })
    .describe(
      'Bytes of task, input, context and metadata, and of the result as JSON, as the node measured them: what a claim can be compared with.',
    )
    .meta({ examples: [{ inputBytes: 4211, resultBytes: 1304 }] }),
  source: z
    .enum(usageSources)
    .describe(
      'Source of `units`: claimed by the `agent`, read from the answer of its `upstream`, or measured by the `node`.',
    ),
  rated: Usdc.optional().describe(
    'Sum of the units by the agreed prices, rounded down, before the least price and the maximum. Absent: the agent is not paid by usage.',
  ),
});
export type CallUsage = z.infer<typeof CallUsage>;

const PerUnitPrice = z.object({ unit: UsageUnit, price: UnitPrice });

/** A price by what a call used, known when it has ended. */
export const PerUsage = z.object({
  prices: z
    .array(PerUnitPrice)
    .min(1)
    .max(MAX_USAGE_UNITS)
    .refine((prices) => new Set(prices.map(({ unit }) => unit)).size === prices.length, 'price a unit twice')
    .describe(`Prices of one unit each, in USDC. A unit without a price costs nothing. ${tokens}`),
  maximum: Usdc.describe('The most that a call costs: it is held before the call, and the rest is given back.'),
});
export type PerUsage = z.infer<typeof PerUsage>;

/** Comparison of a claim with the agent's own calls. */
export const UsageComparison = z.object({
  calls: z
    .int()
    .min(0)
    .max(100)
    .describe('Earlier calls that it is compared with: the last ones of the agent with usage, at most 100.'),
  units: z.array(
    z.object({
      unit: UsageUnit,
      times: z
        .number()
        .min(0)
        .describe(
          'Quantity for each byte of this call, divided by the median of the agent: 1 is usual. Of `second`, of the time that the node measured.',
        )
        .meta({ examples: [1.2] }),
      isFar: z.boolean().describe('More than four times the median, over at least ten calls.'),
    }),
  ),
});
export type UsageComparison = z.infer<typeof UsageComparison>;

/** The cost of a call by usage, as a quote states it. */
export const QuotedUsage = z
  .object({
    from: Usdc.describe('The least that the call costs.'),
    atMost: Usdc.describe('The most that it costs, which is held.'),
    prices: z.array(PerUnitPrice),
    recent: z
      .object({
        calls: z.int().min(0).max(100),
        cost: Usdc.nullable().describe('Median of their costs; null: there are none.'),
        units: z.array(z.object({ unit: UsageUnit, quantity: Quantity.describe('The median.') })),
      })
      .describe('Of the last calls of the agent with usage through this node, at most 100.'),
  })
  .describe('Of an agent with a price by usage (`metadata.perUsage`).');

/** Name of the usage in metadata of other protocols. */
export const USAGE_EXTENSION = 'urn:agent-network:usage';
