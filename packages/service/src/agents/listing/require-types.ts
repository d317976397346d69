import type { AgentTypes, AgentTypesPart } from '@agent-network/contracts/agents/agent-types';
import { AppError } from '../../lib/app-error.ts';
import { countSchemas, type Fault } from '../../lib/json-schema/schema-rules.ts';
import { judgeSchema } from '../../lib/json-schema/schema-thread.ts';

interface Problem {
  readonly path: string;
  readonly message: string;
}

/** Schemas of one agent, over all its capabilities. */
const MAX_SCHEMAS = 1000;

/** Throws VALIDATION_ERROR for types of capabilities that the agent does not have. */
export function requireCapabilities(types: AgentTypes | null, capabilities: readonly string[]): void {
  const strange = Object.keys(types?.capabilities ?? {}).filter((name) => !capabilities.includes(name));
  if (strange.length > 0)
    throw refusal(
      strange.map((name) => ({ path: `types.capabilities.${name}`, message: 'is not a capability of the agent' })),
    );
}

/**
 * Throws VALIDATION_ERROR for types that this node does not take: schemas that are not valid, or that cannot be checked in bounded time,
 * and examples that do not fit them. They are judged in a thread, those of one owner in turn; UNAVAILABLE: too many of his wait.
 */
export async function requireTypes(
  { capabilities: byCapability = {}, ...whole }: AgentTypes,
  owner: string,
): Promise<void> {
  const problems: Problem[] = [];
  const parts: [string, AgentTypesPart][] = [
    ['types', whole],
    ...Object.entries(byCapability).map(([name, part]): [string, AgentTypesPart] => [
      `types.capabilities.${name}`,
      part,
    ]),
  ];
  const schemas = parts.flatMap(([, { inputSchema, outputSchema }]) => [inputSchema, outputSchema]);
  if (schemas.reduce((sum, schema) => sum + countSchemas(schema), 0) > MAX_SCHEMAS)
    throw refusal([{ path: 'types', message: `has more than ${MAX_SCHEMAS} schemas` }]);
  for (const [path, part] of parts) {
    for (const name of ['inputSchema', 'outputSchema'] as const)
      problems.push(...(await problemsOf(path, { whole, part, name }, owner)));
    if (problems.length > 0) break;
  }
  if (problems.length > 0) throw refusal(problems.slice(0, 20));
}

/** Problems of a schema of the part, and of the part's examples by it, or by that of the whole agent where the part has none. */
async function problemsOf(
  path: string,
  judged: { whole: AgentTypesPart; part: AgentTypesPart; name: 'inputSchema' | 'outputSchema' },
  owner: string,
): Promise<Problem[]> {
  const { whole, part, name } = judged;
  const examples = part.examples ?? [];
  const schema = part[name] ?? (examples.length > 0 ? whole[name] : undefined);
  if (schema === undefined) return [];
  if (name === 'inputSchema' && schema.type !== 'object')
    return [{ path: `${path}.${name}.type`, message: 'must be "object": the input of a call is one' }];
  const given = examples.flatMap(({ input, output }, index) => {
    const value = name === 'inputSchema' ? input : output;
    return value === undefined ? [] : [{ value, place: `${path}.examples.${index}.${name.replace('Schema', '')}` }];
  });
  const values = given.map(({ value }) => value);
  const result = await judgeSchema(schema, values, owner);
  if ('refused' in result) return result.refused.map((fault) => toProblem(`${path}.${name}`, fault));
  return given.flatMap(({ place }, index) => {
    const faults = result.checked[index] ?? [];
    if (faults === 'too_much') return [{ path: place, message: 'takes too many steps to check' }];
    return faults.map((fault) => toProblem(place, fault));
  });
}

const toProblem = (path: string, { at, message }: Fault): Problem => ({ path: [path, ...at].join('.'), message });

const refusal = (fields: Problem[]) =>
  new AppError('VALIDATION_ERROR', `Invalid request: ${fields[0]?.path} ${fields[0]?.message}.`, {
    details: { fields },
  });
