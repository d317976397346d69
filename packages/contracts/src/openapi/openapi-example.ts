import type { JsonSchema } from './json-schema.ts';
import { valuesOf } from './openapi-values.ts';

type Resolve = (ref: string) => JsonSchema;
type Fits = (schema: JsonSchema, value: unknown) => boolean;

const branchesOf = (schema: JsonSchema): JsonSchema[] => (schema.anyOf ?? schema.oneOf ?? []) as JsonSchema[];

const typeOf = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value;
};

function fitsType(schema: JsonSchema, value: unknown): boolean {
  if (schema.type === undefined) return true;
  if (Array.isArray(schema.type)) return schema.type.includes(typeOf(value));
  return schema.type === typeOf(value) || (schema.type === 'number' && typeof value === 'number');
}

function fitsText(schema: JsonSchema, value: string): boolean {
  if (schema.format === 'date-time') return /^\d{4}-\d\d-\d\dT/.test(value);
  if (schema.format === 'date') return /^\d{4}-\d\d-\d\d$/.test(value);
  return typeof schema.pattern !== 'string' || new RegExp(schema.pattern, 'u').test(value);
}

/** True if the schema accepts the value at its top level; objects are checked by their type only. */
const fits: Fits = (schema, value) => {
  // A named schema of the document is an object.
  if ('$ref' in schema) return typeOf(value) === 'object';
  if ('const' in schema) return schema.const === value;
  if (Array.isArray(schema.enum)) return schema.enum.includes(value);
  const branches = branchesOf(schema);
  if (branches.length > 0) return branches.some((branch) => fits(branch, value));
  if (!fitsType(schema, value)) return false;
  const { minimum, maximum } = schema as { minimum?: number; maximum?: number };
  if (typeof value === 'number') return value >= (minimum ?? value) && value <= (maximum ?? value);
  if (typeof value === 'string') return fitsText(schema, value);
  return !Array.isArray(value) || fits((schema.items ?? {}) as JsonSchema, value[0]);
};

function plainExample(schema: JsonSchema): unknown {
  if (schema.format === 'date-time') return '2026-11-21T10:00:00.000Z';
  if (schema.format === 'date') return '2026-11-21';
  if (schema.type === 'string') return schema.format === 'uri' ? 'https://agent.example' : 'text';
  if (schema.type === 'integer' || schema.type === 'number') return Math.max(Number(schema.minimum ?? 1), 0);
  if (schema.type === 'boolean') return true;
  return null;
}

/**
 * An example value for a schema that a reader understands: its `const`, its example, the first value of its enum, or a typical value for
 * the field's name. `resolve` follows a `$ref`.
 */
export function exampleOf(schema: JsonSchema, resolve: Resolve, name = ''): unknown {
  if (typeof schema.$ref === 'string') return exampleOf(resolve(schema.$ref), resolve, name);
  if ('const' in schema) return schema.const;
  const known = schema.properties === undefined ? valuesOf(name).find((value) => fits(schema, value)) : undefined;
  if (known !== undefined) return known;
  if (schema.type === 'object' && schema.properties === undefined) return {};
  if (Array.isArray(schema.examples)) return schema.examples[0];
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const branch = branchesOf(schema).find((each) => each.type !== 'null');
  if (branch) return exampleOf(branch, resolve, name);
  if (schema.type === 'array') return [exampleOf(schema.items as JsonSchema, resolve, name.replace(/s$/, ''))];
  if (schema.properties === undefined) return plainExample(schema);
  return objectExample(schema, resolve);
}

function objectExample(schema: JsonSchema, resolve: Resolve): Record<string, unknown> {
  const properties = Object.entries(schema.properties as Record<string, JsonSchema>);
  const shown = properties.filter(
    ([, each]) => !/^(Alias of|Only in the answer of a repetition)/.test(`${each.description}`),
  );
  return Object.fromEntries(shown.map(([name, each]) => [name, exampleOf(each, resolve, name)]));
}
