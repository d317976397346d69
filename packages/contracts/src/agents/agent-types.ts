import { z } from 'zod';
import { displayText } from '../display-text.ts';
import { JsonObject } from '../scalars.ts';
import { Capability } from './agent-search.ts';

const TypesPart = z.strictObject({
  inputSchema: JsonObject.optional().describe(
    'JSON Schema (2020-12) of `input`; its root has `type: "object"`. A call whose input does not fit is refused with 400 before anything is paid.',
  ),
  outputSchema: JsonObject.optional().describe(
    'JSON Schema (2020-12) of `result`. A call whose result does not fit has failed (`result_invalid`), and is refunded.',
  ),
  examples: z
    .array(
      z.strictObject({
        description: displayText(500).optional(),
        input: JsonObject,
        output: z.unknown().optional().describe('A result for this input.'),
      }),
    )
    .max(10)
    .optional()
    .describe('Each fits the schemas beside it.'),
  estimatedTime: z
    .string()
    .regex(/^[1-9]\d{0,4}(-[1-9]\d{0,4})?s$/, 'must be seconds, or a range of them: "20s", "5-20s"')
    .optional()
    .describe('Shown in quotes until the node has measured completed calls.'),
});

const MAX_BYTES = 65_536;

/** Input and output schemas of an agent: as a whole, and by capability. */
export const AgentTypes = TypesPart.extend({
  capabilities: z
    .record(Capability, TypesPart)
    .optional()
    .describe(
      'Types of single capabilities of the agent, for calls that name one as `capability`. A type that a capability leaves out is that of the agent.',
    ),
})
  .refine((types) => JSON.stringify(types).length <= MAX_BYTES, `has more than ${MAX_BYTES} characters of JSON`)
  .meta({
    examples: [
      {
        inputSchema: {
          type: 'object',
          properties: { document: { type: 'string' }, sentences: { type: 'integer', minimum: 1 } },
          required: ['document'],
        },
        outputSchema: { type: 'object', properties: { summary: { type: 'string' } }, required: ['summary'] },
        examples: [{ input: { document: 'Honey bees tell each other where food is by dancing.', sentences: 1 } }],
        estimatedTime: '2-5s',
      },
    ],
  });
export type AgentTypes = z.output<typeof AgentTypes>;
export type AgentTypesPart = z.output<typeof TypesPart>;

/** The types of a call that names this capability, or none. */
export function typesOfCall(types: AgentTypes, capability: string | null): AgentTypesPart {
  const { capabilities, ...whole } = types;
  const own = capability !== null && Object.hasOwn(capabilities ?? {}, capability) ? capabilities?.[capability] : {};
  return { ...whole, ...own };
}
