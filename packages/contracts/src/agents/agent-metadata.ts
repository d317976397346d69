import { z } from 'zod';
import { nameText } from '../display-text.ts';
import { PerUsage } from '../invocations/usage.ts';
import { plainText, Usdc, webUrl } from '../scalars.ts';

/** Measures of a value in the input. */
const unitMeasures = ['number', 'items', 'characters', 'bytes'] as const;
export type UnitMeasure = (typeof unitMeasures)[number];

const Measure = z
  .enum(unitMeasures)
  .describe(
    'The unit there: a `number` (0 or more, rounded up), the `items` of a list, the `characters` or the `bytes` (UTF-8) of a text. An input that has anything else there, or nothing, is refused with 400.',
  );

/** A price by units of the input, besides the price per request. */
const PerUnit = z.object({
  price: Usdc.describe('Price of one unit.'),
  unit: nameText(32)
    .min(1)
    .describe('Name of the unit, for people.')
    .meta({ examples: ['page'] }),
  count: plainText(200)
    .regex(/^(\/([^~/]|~[01])*)+$/, 'is not a JSON pointer')
    .describe('JSON pointer into `input` to what is counted.')
    .meta({ examples: ['/pages'] }),
  measure: Measure.optional().meta({
    description:
      'The unit there. Agents that were declared before this field have none: a number, the items of a list or the characters of a text, by the JSON type.',
  }),
  maximum: Usdc.describe('The most that the units of one call cost.'),
});

const MAX_SIZE_STEPS = 8;

/** A price by size. Ascending in both, so that a larger call never costs less. */
const SizeSteps = z
  .array(
    z.object({
      aboveBytes: z.int().min(1024).max(10_000_000).describe('Calls larger than this are multiplied.'),
      multiplier: z
        .string()
        .regex(/^([1-4](\.[0-9]{1,2})?|5(\.0{1,2})?)$/, 'is not a number from 1 to 5 with at most two decimals')
        .meta({ examples: ['1.25'] }),
    }),
  )
  .min(1)
  .max(MAX_SIZE_STEPS)
  .refine(
    (steps) =>
      steps.every((step, at) => {
        const before = steps[at - 1];
        return !before || (before.aboveBytes < step.aboveBytes && Number(before.multiplier) <= Number(step.multiplier));
      }),
    'are not in ascending order of size and multiplier',
  );

export const AgentMetadata = z.object({
  avatar: webUrl(2048).optional(),
  website: webUrl(2048).optional(),
  tags: z.array(nameText(64).min(1)).max(30).optional(),
  maxConcurrency: z
    .int()
    .min(1)
    .max(10_000)
    .optional()
    .describe('Maximum concurrent calls of the agent; the base of `load`.'),
  priceHints: z
    .boolean()
    .optional()
    .describe(
      'true: `input.complexity` of a call changes its price: `low` 0.8 times, `high` 1.5 times. Default: false.',
    ),
  sizeSteps: SizeSteps.optional().describe(
    'A price by size: a call whose task, input, context and metadata have more bytes together than a step says costs its price per request times the multiplier of the last such step. Without it, size does not change the price.',
  ),
  perUnit: PerUnit.optional().describe(
    'A price by units: a call costs what its units cost, at most `maximum`, and at least its price per request. Filters and orders by price mean the price per request, the least price of a call.',
  ),
  perUsage: PerUsage.optional().describe(
    'A price by what a call used, which is known when it has ended: the price per request is the least, `maximum` the most. Not together with `perUnit`, `sizeSteps` and `priceHints`.',
  ),
  shownShare: z
    .int()
    .min(0)
    .max(100)
    .optional()
    .describe(
      'Percent of its price that a call costs which is ended before its result, after output of it was shown (a cancellation, its deadline, a decided bulk request). Default: 100.',
    ),
  showsUnjudged: z
    .boolean()
    .optional()
    .describe(
      'true: chunks of calls whose result is held to an `outputSchema` are shown as they come. Default: they are held back until the result has been judged, as a result that does not fit is refunded.',
    ),
});

export type AgentMetadata = z.output<typeof AgentMetadata>;
export type { PerUsage } from '../invocations/usage.ts';
export type PerUnit = NonNullable<AgentMetadata['perUnit']>;
export type SizeStep = NonNullable<AgentMetadata['sizeSteps']>[number];

/** The metadata as an owner declares it: a price by units needs a measure. */
export const DeclaredMetadata = AgentMetadata.extend({
  perUnit: PerUnit.extend({ measure: Measure })
    .optional()
    .describe(AgentMetadata.shape.perUnit.description ?? ''),
});

type Nullable<Shape extends z.ZodRawShape> = { [Name in keyof Shape]: z.ZodNullable<Shape[Name]> };
const nullable = <Shape extends z.ZodRawShape>(shape: Shape) =>
  Object.fromEntries(
    Object.entries(shape).map(([name, field]) => [name, z.nullable(field)]),
  ) as unknown as Nullable<Shape>;

/** A change of the metadata: the fields that it names are replaced, null removes one, the others stay. */
export const AgentMetadataChange = z.object(nullable(DeclaredMetadata.shape)).partial();
export type AgentMetadataChange = z.output<typeof AgentMetadataChange>;
