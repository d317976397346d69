/** The part of JSON Schema 2020-12 that our document uses. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly pattern?: string;
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** Follows a reference into the document. */
export type Resolve = <T extends { readonly $ref?: string }>(node: T) => T;

const known = new Set([
  ...['$ref', 'type', 'const', 'enum', 'properties', 'required', 'additionalProperties', 'items', 'anyOf', 'oneOf'],
  ...[
    'allOf',
    'pattern',
    'format',
    'minLength',
    'maxLength',
    'minimum',
    'maximum',
    'exclusiveMinimum',
    'exclusiveMaximum',
    'minItems',
    'maxItems',
  ],
  ...['description', 'examples', 'default', 'title'],
]);

const formats: Record<string, (text: string) => boolean> = {
  'date-time': (text) => /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(text) && !Number.isNaN(Date.parse(text)),
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)),
  uri: (text) => URL.canParse(text),
};

const typeOf = (value: unknown) => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);

/** Paths at which a value violates a schema; empty: none. An unchecked keyword is a problem, too. */
export function problemsWith(value: unknown, schema: Schema, resolve: Resolve, path = '$'): string[] {
  const node = resolve(schema);
  const problem = (what: string) => `${path} ${what}: ${(JSON.stringify(value) ?? 'undefined').slice(0, 80)}`;
  const unknown = Object.keys(node).filter((keyword) => !known.has(keyword));
  const found = [
    ...unknown.map((keyword) => problem(`has the unchecked keyword ${keyword}`)),
    ...(isOfType(value, node.type) ? [] : [problem(`is no ${node.type}`)]),
    ...(isAllowed(value, node) ? [] : [problem('is none of the allowed values')]),
    ...(typeof value === 'string' ? textProblems(value, node).map(problem) : []),
    ...(typeof value === 'number' ? numberProblems(value, node).map(problem) : []),
    ...combinedProblems(value, node, resolve, path).map((each) => each),
  ];
  if (Array.isArray(value)) found.push(...listProblems(value, node, resolve, path));
  else if (typeof value === 'object' && value !== null)
    found.push(...objectProblems(value as Record<string, unknown>, node, resolve, path));
  return found;
}

const isOfType = (value: unknown, types: Schema['type']) =>
  types === undefined ||
  [types].flat().some((type) => (type === 'integer' ? Number.isInteger(value) : typeOf(value) === type));

const isAllowed = (value: unknown, { const: only, enum: list }: Schema) =>
  (only === undefined || value === only) && (list === undefined || list.includes(value));

function textProblems(text: string, { pattern, format, minLength = 0, maxLength = Number.POSITIVE_INFINITY }: Schema) {
  const problems: string[] = [];
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(text)) problems.push(`does not match ${pattern}`);
  if (format !== undefined && formats[format]?.(text) === false) problems.push(`is no ${format}`);
  if (text.length < minLength || text.length > maxLength) problems.push('is too short or too long');
  return problems;
}

function numberProblems(value: number, node: Schema): string[] {
  const { minimum = -Infinity, maximum = Infinity, exclusiveMinimum = -Infinity, exclusiveMaximum = Infinity } = node;
  const isWithin = value >= minimum && value <= maximum && value > exclusiveMinimum && value < exclusiveMaximum;
  return isWithin ? [] : ['is out of range'];
}

function combinedProblems(value: unknown, { anyOf, oneOf, allOf }: Schema, resolve: Resolve, path: string): string[] {
  const problems = (allOf ?? []).flatMap((each) => problemsWith(value, each, resolve, path));
  for (const choices of [anyOf, oneOf]) {
    if (!choices) continue;
    const misses = choices.map((each) => problemsWith(value, each, resolve, path));
    if (!misses.some((miss) => miss.length === 0))
      problems.push(...(misses.sort((a, b) => a.length - b.length)[0] ?? []));
  }
  return problems;
}

function listProblems(list: readonly unknown[], node: Schema, resolve: Resolve, path: string): string[] {
  const { items, minItems = 0, maxItems = Number.POSITIVE_INFINITY } = node;
  const size = list.length < minItems || list.length > maxItems ? [`${path} has ${list.length} items`] : [];
  return items
    ? [...size, ...list.flatMap((each, index) => problemsWith(each, items, resolve, `${path}[${index}]`))]
    : size;
}

function objectProblems(value: Record<string, unknown>, node: Schema, resolve: Resolve, path: string): string[] {
  const { properties = {}, required = [], additionalProperties } = node;
  const missing = required.filter((name) => !Object.hasOwn(value, name)).map((name) => `${path}.${name} is missing`);
  const inner = Object.entries(value).flatMap(([name, each]) => {
    const schema = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    if (schema === false) return [`${path}.${name} is not declared`];
    return typeof schema === 'object' ? problemsWith(each, schema, resolve, `${path}.${name}`) : [];
  });
  return [...missing, ...inner];
}
