import { z } from 'zod';
import { plainText, Usdc, UsdcInput } from '../scalars.ts';

export const Capability = z
  .string()
  .max(64)
  .toLowerCase()
  .regex(
    /^[a-z0-9][a-z0-9._-]*$/,
    'must be letters, digits, dot, dash and underscore, starting with a letter or digit',
  );
export const CapabilityList = z.array(Capability).min(1).max(20);

const Home = z
  .string()
  .regex(/^[a-z0-9_]{1,100}$/i, 'is neither `this` nor the id of a node')
  .describe('Home node of the agents: `this` for this node, or the id of another. An extension of the spec.')
  .meta({ examples: ['this'] });

/** Texts that agents have to have, in the body of a search and as parameters of counts. */
export const textFilters = { home: Home.optional() };

/** Conditions on an agent (spec, "Search body"). All must hold; an empty query matches every agent. */
export const AgentQuery = z.object({
  capabilities: z
    .object({ any: CapabilityList.optional(), all: CapabilityList.optional() })
    .optional()
    .describe('`any`: at least one of these; `all`: every one of these.'),
  text: plainText(200)
    .trim()
    .min(1)
    .optional()
    .describe(
      'A task in natural words. A search by meaning finds the agents whose texts are the most similar, and those that match by words, which adds to their similarity. By words: words to find in name, description, example questions, tags or capabilities. Common English words do not count. The rarer a word, the more it weighs; agents match that have at least half of the weight, or the largest share that an online or verified agent has, and rank by it (`relevance`). Usual English endings, British and American spellings, `camelCase` and hyphens make no difference. When no agent has the last word, it may be the beginning of one (from three characters on); otherwise a word that no agent has stands for those within one edit (from four characters on): a character inserted, deleted or replaced, or two neighbours swapped. In scripts without spaces between words (such as Chinese, Japanese, Thai) every two neighbouring characters count as a word. An extension of the spec.',
    ),
  rates: z
    .object({
      perRequest: z.object({ max: UsdcInput }).optional(),
      perHour: z.object({ max: UsdcInput }).optional(),
    })
    .optional(),
  reputation: z.object({ min: z.number().min(0).max(1000) }).optional(),
  verified: z.boolean().optional(),
  online: z.boolean().optional(),
  ...textFilters,
});
export type AgentQuery = z.output<typeof AgentQuery>;

/** Parameters of counts for limits, besides those of the list of agents (`maxPrice`, `minReputation`). */
export const limitParams = { maxPerHour: Usdc.optional() };

export const agentSortFields = [
  'reputation',
  'rates.perRequest',
  'rates.perHour',
  'responseTime',
  'name',
  'createdAt',
  'relevance',
] as const;
export type AgentSortField = (typeof agentSortFields)[number];

/** Body of POST /agents/search. `sort` is applied in order, and a text is then compared by words; without it, best match for a text first, otherwise best reputation. */
export const AgentSearch = z.object({
  query: AgentQuery.default({}),
  sort: z
    .array(z.object({ field: z.enum(agentSortFields), order: z.enum(['asc', 'desc']).default('desc') }))
    .max(agentSortFields.length)
    .refine((keys) => new Set(keys.map(({ field }) => field)).size === keys.length, 'names a field twice')
    .default([]),
  by: z
    .enum(['meaning', 'words', 'auto'])
    .default('auto')
    .describe(
      'How a text is compared. `auto`: by meaning where the node can do so in time, else by words. With `sort`, always by words. The answer says it (`rankedBy`), and the pages after the first keep it.',
    ),
  limit: z.int().min(1).max(100).default(20),
  offset: z.int().min(0).max(10_000).default(0),
  cursor: z.string().max(1000).optional().describe('`nextCursor` of the previous page; instead of `offset`.'),
  describe: z.boolean().optional().describe('Adds `descriptions` to the answer. Default: false.'),
});
export type AgentSearch = z.output<typeof AgentSearch>;
