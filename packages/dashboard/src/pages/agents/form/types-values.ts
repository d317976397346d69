import type { AgentTypes } from '@agent-network/contracts/agents/agent-types';
import { isSame } from '../../../forms/is-same.ts';
import type { Problems } from '../../../forms/problems.ts';

/** Input and output schemas of an agent in the form: JSON text as typed. */
export interface TypesValues {
  readonly inputSchema: string;
  readonly outputSchema: string;
  readonly examples: string;
  readonly capabilityTypes: string;
  readonly estimatedTime: string;
}

export const noTypes: TypesValues = {
  ...{ inputSchema: '', outputSchema: '', examples: '', capabilityTypes: '', estimatedTime: '' },
};

/** Fields of the form with JSON text, and their names in `types` of the body. */
const jsonFields = [
  ['inputSchema', 'inputSchema'],
  ['outputSchema', 'outputSchema'],
  ['examples', 'examples'],
  ['capabilityTypes', 'capabilities'],
] as const;

const textOf = (value: unknown) => (value === undefined ? '' : JSON.stringify(value, null, 2));

export const typesValuesOf = ({
  inputSchema,
  outputSchema,
  examples,
  capabilities,
  estimatedTime,
}: AgentTypes = {}): TypesValues => ({
  inputSchema: textOf(inputSchema),
  outputSchema: textOf(outputSchema),
  examples: textOf(examples),
  capabilityTypes: textOf(capabilities),
  estimatedTime: estimatedTime ?? '',
});

function parsed(text: string): { readonly value: unknown } | { readonly problem: string } {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { problem: `is not JSON: ${error instanceof Error ? error.message : error}` };
  }
}

/** `types` of a body; null: the form has none. A text that is not JSON goes along as a text, which no schema takes. */
export function typesOf(values: TypesValues): Record<string, unknown> | null {
  const { estimatedTime } = values;
  const parts = jsonFields.flatMap(([field, name]) => {
    const text = values[field].trim();
    if (text === '') return [];
    const json = parsed(text);
    return [[name, 'value' in json ? json.value : text] as const];
  });
  if (parts.length === 0 && !estimatedTime) return null;
  return { ...Object.fromEntries(parts), ...(estimatedTime ? { estimatedTime } : {}) };
}

/** Problems of texts that are not JSON. */
export const jsonProblems = (values: TypesValues): Problems =>
  new Map(
    jsonFields.flatMap(([field, name]) => {
      const json = values[field].trim() === '' ? { value: null } : parsed(values[field]);
      return 'problem' in json ? [[`types.${name}`, json.problem] as const] : [];
    }),
  );

/** `types` of an update, which replaces all of them: only when something differs. */
export const changedTypes = (values: TypesValues, before: AgentTypes | undefined) =>
  isSame(typesOf(values), typesOf(typesValuesOf(before))) ? {} : { types: typesOf(values) };
