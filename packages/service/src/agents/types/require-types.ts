import type { AgentTypes, AgentTypesPart } from '@agent-network/contracts/agents/agent-types';
import { AppError } from '../../lib/app-error.ts';
import { countSchemas, type Fault } from '../../lib/json-schema/schema-rules.ts';
import { compileSchema } from './compile-schema.ts';

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
 * and examples that do not fit them.
 */
export async function requireTypes({ capabilities: byCapability = {}, ...whole }: AgentTypes): Promise<void> {
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
    problems.push(...(await problemsOf(path, { whole, part }, 'inputSchema')));
    problems.push(...(await problemsOf(path, { whole, part }, 'outputSchema')));
    if (problems.length > 0) break;
  }
  if (problems.length > 0) throw refusal(problems.slice(0, 20));
}

/** Problems of a schema of the part, and of the part's examples by it, or by that of the whole agent where the part has none. */
async function problemsOf(
  path: string,
  { whole, part }: { whole: AgentTypesPart; part: AgentTypesPart },
  name: 'inputSchema' | 'outputSchema',
): Promise<Problem[]> {
  const examples = part.examples ?? [];
  const schema = part[name] ?? (examples.length > 0 ? whole[name] : undefined);
  if (schema === undefined) return [];
  if (name === 'inputSchema' && schema.type !== 'object')
    return [{ path: `${path}.${name}.type`, message: 'must be "object": the input of a call is one' }];
  const validator = await compileSchema(schema);
  if (!('check' in validator)) return validator.map((fault) => toProblem(`${path}.${name}`, fault));
  return examples.flatMap(({ input, output }, index) => {
    const value = name === 'inputSchema' ? input : output;
    if (value === undefined) return [];
    const place = `${path}.examples.${index}.${name === 'inputSchema' ? 'input' : 'output'}`;
    const faults = validator.check(value);
    if (faults === 'too_much') return [{ path: place, message: 'takes too many steps to check' }];
    return faults.map((fault) => toProblem(place, fault));
  });
}

const toProblem = (path: string, { at, message }: Fault): Problem => ({ path: [path, ...at].join('.'), message });

const refusal = (fields: Problem[]) =>
  new AppError('VALIDATION_ERROR', `Invalid request: ${fields[0]?.path} ${fields[0]?.message}.`, {
    details: { fields },
  });
