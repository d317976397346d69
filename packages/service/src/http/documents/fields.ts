import { madeOnce } from '../../lib/made-once.ts';
import { nameOf, type Schema } from './document.ts';

/** One row of a table of fields. */
export interface Field {
  /** Full path of the field: `rates.perRequest`, `agents[].id`. */
  readonly path: string;
  readonly type: string;
  /** Name of the component that the field holds, described in its own section. */
  readonly object: string | undefined;
  readonly isRequired: boolean;
  readonly description: string;
}

const branchesOf = (schema: Schema): Schema[] => (schema.anyOf ?? schema.oneOf ?? []) as Schema[];

/** Flattens the alternatives of a schema; the schema itself when it has none. */
export function alternativesOf(schema: Schema): Schema[] {
  if (Array.isArray(schema.type)) return schema.type.map((type) => ({ ...schema, type }));
  const branches = branchesOf(schema);
  return branches.length === 0 ? [schema] : branches.flatMap(alternativesOf);
}

/** On first use: the first one of a process loads the data of a language, which no start needs. */
const number = madeOnce(() => new Intl.NumberFormat('en-US'));

function limitsOf(schema: Schema): string {
  const { minimum, maximum, maxLength, maxItems } = schema as Readonly<Record<string, number | undefined>>;
  const upper = maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? undefined : maximum;
  const lower = minimum === undefined || minimum <= -Number.MAX_SAFE_INTEGER ? undefined : minimum;
  if (lower !== undefined && upper !== undefined) return ` ${number().format(lower)} to ${number().format(upper)}`;
  if (lower !== undefined) return ` from ${number().format(lower)}`;
  if (upper !== undefined) return ` up to ${number().format(upper)}`;
  if (maxLength !== undefined) return `, at most ${number().format(maxLength)} characters`;
  return maxItems === undefined ? '' : `, at most ${maxItems}`;
}

const formats: Readonly<Record<string, string>> = { 'date-time': 'time', date: 'day', uri: 'URL' };

function singleType(schema: Schema): string {
  if (typeof schema.$ref === 'string') return nameOf(schema.$ref);
  if ('const' in schema) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.type === 'array') return `list of ${typeOf((schema.items ?? {}) as Schema)}${limitsOf(schema)}`;
  if (typeof schema.format === 'string' && formats[schema.format])
    return `${formats[schema.format]}${limitsOf(schema)}`;
  return typeof schema.type === 'string' ? `${schema.type}${limitsOf(schema)}` : 'any JSON';
}

/** Describes the type of a field in words. */
export function typeOf(schema: Schema): string {
  return [...new Set(alternativesOf(schema).map(singleType))].join(' | ');
}

const describe = (schema: Schema): string =>
  [
    typeof schema.description === 'string' ? schema.description : '',
    schema.default === undefined || typeof schema.default === 'object'
      ? ''
      : `Default: \`${schema.default === '' ? '""' : String(schema.default)}\`.`,
  ]
    .filter((text) => text !== '')
    .join(' ');

function inner(schema: Schema, path: string): Field[] {
  return alternativesOf(schema).flatMap((each) => {
    if (each.type === 'array') return inner((each.items ?? {}) as Schema, `${path}[]`);
    return each.properties === undefined ? [] : fieldsOf(each, `${path}.`);
  });
}

function objectIn(schema: Schema): string | undefined {
  const items = alternativesOf(schema).map((each) => (each.type === 'array' ? ((each.items ?? {}) as Schema) : each));
  const named = items.find((each) => typeof each.$ref === 'string');
  return named && nameOf(String(named.$ref));
}

/** Lists the fields of an object and its nested objects, in the order of the schema; named components are not expanded. */
export function fieldsOf(schema: Schema, prefix = ''): Field[] {
  const required = new Set((schema.required ?? []) as string[]);
  return Object.entries((schema.properties ?? {}) as Record<string, Schema>).flatMap(([name, each]) => [
    {
      path: prefix + name,
      type: typeOf(each),
      object: objectIn(each),
      isRequired: required.has(name),
      description: describe(each),
    },
    ...inner(each, prefix + name),
  ]);
}
