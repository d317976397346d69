import type { AgentTypes, AgentTypesPart } from '@agent-network/contracts/agents/agent-types';

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Deeper schemas are `unknown`: a node may answer anything. */
const MAX_DEPTH = 64;

/** TypeScript of an agent's input and result. Names and texts come from strangers, so they can only become names, strings and comments. */
export function typeScriptOf(agent: { id: string; name: string }, types: AgentTypes): string {
  const { capabilities = {}, ...whole } = types;
  const lines = [
    `// Types of the agent ${JSON.stringify(oneLine(agent.name))} (${oneLine(agent.id)}), made by "agentnet types".`,
    '',
    ...partOf('', whole),
  ];
  const names = Object.keys(capabilities);
  const rows: string[] = [];
  for (const [index, name] of names.entries()) {
    const prefix = `Capability${index + 1}`;
    lines.push(comment(`The capability ${name}`, ''), ...partOf(prefix, { ...whole, ...capabilities[name] }));
    rows.push(`  ${JSON.stringify(name)}: { input: ${prefix}Input; output: ${prefix}Output };`);
  }
  if (rows.length > 0) lines.push('export interface Capabilities {', ...rows, '}', '');
  return lines.join('\n');
}

function partOf(prefix: string, { inputSchema, outputSchema }: AgentTypesPart): string[] {
  return [
    ...declarationsOf(`${prefix}Input`, inputSchema ?? { type: 'object' }),
    ...declarationsOf(`${prefix}Output`, outputSchema ?? true),
  ];
}

/** The type of a schema under this name, and those that it refers to. */
function declarationsOf(name: string, schema: unknown): string[] {
  const writer = createWriter(name, schema);
  const lines = [declaration(name, schema, writer)];
  // Writing a type may name further ones.
  for (const [pointer, each] of writer.named)
    if (pointer !== '') lines.push(declaration(each, at(schema, pointer), writer));
  return lines;
}

const declaration = (name: string, schema: unknown, { write }: Writer): string =>
  `${isObject(schema) ? comment(schema.description, '') : ''}export type ${name} = ${write(schema, '', 0)};\n`;

interface Writer {
  /** Names of places in the schema that references lead to. */
  readonly named: Map<string, string>;
  write(schema: unknown, indent: string, depth: number): string;
}

function createWriter(name: string, root: unknown): Writer {
  const named = new Map([['', name]]);
  const write = (schema: unknown, indent: string, depth: number): string => {
    if (schema === false) return 'never';
    if (!isObject(schema) || depth > MAX_DEPTH) return 'unknown';
    const next = (each: unknown) => write(each, indent, depth + 1);
    const parts = [ownType(schema, indent, (each, deeper) => write(each, deeper, depth + 1))];
    if (typeof schema.$ref === 'string') parts.push(referred(schema.$ref));
    for (const choice of [schema.anyOf, schema.oneOf]) if (Array.isArray(choice)) parts.push(union(choice.map(next)));
    if (Array.isArray(schema.allOf)) parts.push(...schema.allOf.map(next));
    const said = [...new Set(parts.filter((part) => part !== 'unknown'))];
    if (said.length === 0) return 'unknown';
    return said.length === 1 ? (said[0] as string) : said.map((part) => `(${part})`).join(' & ');
  };
  function referred($ref: string): string {
    if (!$ref.startsWith('#')) return 'unknown';
    const pointer = $ref.slice(1);
    if (at(root, pointer) === undefined) return 'unknown';
    const known = named.get(pointer) ?? `${name}Part${named.size}`;
    named.set(pointer, known);
    return known;
  }
  return { named, write };
}

function at(root: unknown, pointer: string): unknown {
  let place = root;
  for (const name of pointer.split('/').slice(1)) {
    const key = decoded(name).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof place !== 'object' || place === null || !Object.hasOwn(place, key)) return undefined;
    place = (place as Json)[key];
  }
  return place;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

type Write = (schema: unknown, indent: string) => string;

function ownType(schema: Json, indent: string, write: Write): string {
  if ('const' in schema) return literal(schema.const);
  if (Array.isArray(schema.enum)) return union(schema.enum.map(literal));
  const types = [schema.type].flat().filter((type) => typeof type === 'string');
  if (types.length === 0 && isObject(schema.properties)) types.push('object');
  return types.length === 0 ? 'unknown' : union(types.map((type) => typeOf(type, schema, indent, write)));
}

function typeOf(type: string, schema: Json, indent: string, write: Write): string {
  if (type === 'string' || type === 'boolean' || type === 'null') return type;
  if (type === 'number' || type === 'integer') return 'number';
  if (type === 'array') return arrayOf(schema, indent, write);
  return type === 'object' ? objectOf(schema, indent, write) : 'unknown';
}

function arrayOf({ prefixItems, items }: Json, indent: string, write: Write): string {
  const rest = items === undefined ? 'unknown' : write(items, indent);
  if (!Array.isArray(prefixItems)) return `Array<${rest}>`;
  const first = prefixItems.map((each) => `(${write(each, indent)})?`);
  return `[${[...first, ...(rest === 'never' ? [] : [`...Array<${rest}>`])].join(', ')}]`;
}

function objectOf(schema: Json, indent: string, write: Write): string {
  const { properties, additionalProperties, patternProperties, required } = schema;
  const needed = new Set(Array.isArray(required) ? required : []);
  const inner = `${indent}  `;
  const fields = Object.entries(isObject(properties) ? properties : {}).map(([name, each]) => {
    const text = isObject(each) ? comment(each.description, inner) : '';
    return `${text}${inner}${JSON.stringify(name)}${needed.has(name) ? '' : '?'}: ${write(each, inner)};`;
  });
  const others = additionalProperties === undefined ? 'unknown' : write(additionalProperties, inner);
  if (others !== 'never' || isObject(patternProperties))
    fields.push(`${inner}[name: string]: ${fields.length > 0 || isObject(patternProperties) ? 'unknown' : others};`);
  return fields.length === 0 ? 'Record<string, never>' : `{\n${fields.join('\n')}\n${indent}}`;
}

function literal(value: unknown): string {
  return typeof value === 'object' && value !== null ? 'unknown' : (JSON.stringify(value) ?? 'unknown');
}

function union(parts: readonly string[]): string {
  const distinct = [...new Set(parts)];
  if (distinct.includes('unknown')) return 'unknown';
  return distinct.length === 0 ? 'never' : distinct.join(' | ');
}

/** Text without sequences that end a comment or a line. */
const oneLine = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .replaceAll('*/', '* /')
    .slice(0, 500);

const comment = (text: unknown, indent: string): string =>
  typeof text === 'string' && text !== '' ? `${indent}/** ${oneLine(text)} */\n` : '';
