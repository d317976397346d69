/** A JSON Schema as JSON. */
type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const single = new Set([
  'additionalProperties',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
]);
const lists = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const maps = new Set(['$defs', 'definitions', 'dependentSchemas', 'patternProperties', 'properties']);

/** The schemas in the value of a keyword, each with the names that lead to it from there. */
export function schemasIn(keyword: string, value: unknown): [readonly string[], unknown][] {
  if (single.has(keyword)) return [[[], value]];
  if (lists.has(keyword) && Array.isArray(value)) return value.map((each, index) => [[String(index)], each]);
  if (maps.has(keyword) && isObject(value)) return Object.entries(value).map(([name, each]) => [[name], each]);
  return [];
}

/** True if an object without any field does not fit. */
export const needsFields = ({ required }: Json): boolean => Array.isArray(required) && required.length > 0;

/** Adapts a JSON Schema to its place at `pointer` of another document, so that its references stay valid. */
export function rebased(schema: Json, pointer: string): Json {
  const { $schema: _dialect, $id: _id, ...root } = structuredClone(schema);
  rebase(root, pointer);
  return root;
}

function rebase(schema: unknown, pointer: string): void {
  if (!isObject(schema)) return;
  if (typeof schema.$ref === 'string') schema.$ref = `#${pointer}${schema.$ref.slice(1)}`;
  for (const [keyword, value] of Object.entries(schema))
    for (const [, each] of schemasIn(keyword, value)) rebase(each, pointer);
}
