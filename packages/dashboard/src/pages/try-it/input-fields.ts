import { isSame } from '../../forms/is-same.ts';

/** A field that holds one value. */
export type Scalar =
  | { readonly is: 'text'; readonly isLong: boolean }
  | { readonly is: 'number' }
  | { readonly is: 'choice'; readonly values: readonly unknown[] };

export type Kind =
  | Scalar
  | { readonly is: 'list'; readonly item: Scalar }
  | { readonly is: 'group'; readonly fields: readonly InputField[] }
  /** A value without an input of its own, written as JSON. */
  | { readonly is: 'json' };

export interface InputField {
  readonly name: string;
  readonly label: string;
  readonly isRequired: boolean;
  readonly help: string | undefined;
  readonly kind: Kind;
}

type Json = Readonly<Record<string, unknown>>;

/** Texts that may be longer get an input of several lines. */
const MAX_SHORT_CHARS = 200;
const MAX_CHOICES = 200;

const json: Kind = { is: 'json' };

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const ownValue = (object: unknown, name: string): unknown =>
  isObject(object) && Object.hasOwn(object, name) ? object[name] : undefined;

/** Form fields for input of this schema; null: it has none. */
export function fieldsOf(schema: unknown): readonly InputField[] | null {
  const fields = isObject(schema) ? fieldsAt(schema, 0) : [];
  return fields.length === 0 ? null : fields;
}

function fieldsAt(schema: Json, depth: number): InputField[] {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = new Set(
    Array.isArray(schema.required) ? schema.required.filter((name) => typeof name === 'string') : [],
  );
  const names = new Set([...Object.keys(properties), ...required]);
  return [...names].map((name) => {
    const own = ownValue(properties, name);
    const part = isObject(own) ? own : {};
    return {
      name,
      label: typeof part.title === 'string' && part.title !== '' ? part.title : name,
      isRequired: required.has(name),
      help: helpOf(part),
      kind: kindOf(part, depth),
    };
  });
}

const soleType = ({ type }: Json): unknown => (Array.isArray(type) && type.length === 1 ? type[0] : type);

function kindOf(schema: Json, depth: number): Kind {
  const scalar = scalarOf(schema);
  if (scalar) return scalar;
  const type = soleType(schema);
  if (type === 'array' && isObject(schema.items) && schema.prefixItems === undefined) {
    const item = scalarOf(schema.items);
    return item ? { is: 'list', item } : json;
  }
  if (type !== 'object' || depth > 0) return json;
  const fields = fieldsAt(schema, depth + 1);
  return fields.length === 0 ? json : { is: 'group', fields };
}

function scalarOf(schema: Json): Scalar | null {
  const { enum: values } = schema;
  if (Array.isArray(values)) return values.length > 0 && values.length <= MAX_CHOICES ? { is: 'choice', values } : null;
  if (Object.hasOwn(schema, 'const')) return { is: 'choice', values: [schema.const] };
  const type = soleType(schema);
  if (type === 'boolean') return { is: 'choice', values: [true, false] };
  if (type === 'number' || type === 'integer') return { is: 'number' };
  if (type !== 'string') return null;
  const isShort =
    schema.format !== undefined || schema.pattern !== undefined || Number(schema.maxLength) <= MAX_SHORT_CHARS;
  return { is: 'text', isLong: !isShort };
}

function helpOf({ description, minimum, maximum, default: usual }: Json): string | undefined {
  const parts = [
    typeof description === 'string' ? description : '',
    typeof minimum === 'number' ? `At least ${minimum}.` : '',
    typeof maximum === 'number' ? `At most ${maximum}.` : '',
    usual === undefined ? '' : `Default: ${JSON.stringify(usual)}.`,
  ];
  return parts.filter(Boolean).join(' ') || undefined;
}

/** False for a value that the field's input could not show unchanged: it is shown as JSON. */
export function fits(kind: Kind, value: unknown): boolean {
  if (value === undefined || kind.is === 'json') return true;
  if (kind.is === 'text') return typeof value === 'string' && !(kind.isLong ? /\r/ : /[\r\n]/).test(value);
  if (kind.is === 'choice') return kind.values.some((each) => isSame(each, value));
  if (kind.is === 'group') return isObject(value);
  if (kind.is === 'list') return Array.isArray(value) && value.every((each) => each === null || fits(kind.item, each));
  return (
    typeof value === 'number' || (typeof value === 'string' && !/[\r\n]/.test(value) && numberTyped(value) === value)
  );
}

/** Parses a typed number. Text that is not a number, or would lose precision as one, stays text, which the schema refuses. */
export function numberTyped(text: string): number | string | undefined {
  if (text === '') return undefined;
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return text;
  const number = Number(text);
  return Number.isFinite(number) && (!/^[+-]?\d+$/.test(text) || Number.isSafeInteger(number)) ? number : text;
}

/** The input with another value at this path. undefined removes it, and a group that is empty then. */
export function withValue(whole: unknown, [name, ...rest]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value;
  const before = isObject(whole) ? whole : {};
  const part = withValue(ownValue(before, name), rest, value);
  const isGone = part === undefined || (value === undefined && rest.length > 0 && isSame(part, {}));
  if (!isGone) return { ...before, [name]: part };
  return Object.fromEntries(Object.entries(before).filter(([each]) => each !== name));
}

/** The problem at this path of the body, or below it. */
export function problemAt(problems: ReadonlyMap<string, string>, path: string): string | undefined {
  const own = problems.get(path);
  if (own !== undefined) return own;
  const below = [...problems].find(([each]) => each.startsWith(`${path}.`));
  return below && `${below[0].slice(path.length + 1)} ${below[1]}`;
}

/** Problems of the input, except those at these fields. */
export const problemsBeside = (problems: ReadonlyMap<string, string>, names: readonly string[]): string[] =>
  [...problems]
    .filter(([path]) => path.startsWith('input.'))
    .map(([path, message]) => ({ path: path.slice('input.'.length), message }))
    .filter(({ path }) => !names.some((name) => path === name || path.startsWith(`${name}.`)))
    .map(({ path, message }) => `${path} ${message}`);
