import { usdcPattern } from '@agent-network/contracts/money';
import type { JsonSchema } from '@agent-network/contracts/openapi/json-schema';

/** A change to a valid value that makes it invalid: `value` at `path`, or nothing at all there. */
export interface BadValue {
  readonly path: readonly (string | number)[];
  readonly value: unknown;
  readonly why: string;
}

/** Stands for "leave it out". */
export const MISSING = Symbol('missing');

const samples = { number: 7, string: 'text', array: [], object: {}, null: null, boolean: true } as const;

const badMoney = [
  ...['', '-1', '-0', '+1', '1e3', '1E-3', '1.1234567', 'NaN', 'Infinity', '0x10', '1,5', ' 1', '1 ', '01', '.5', '1.'],
  ...['1000000000000', '1_000', '١', '0.05 USDC', '9'.repeat(400)],
];

/** JSON numbers that are no exact amounts. */
const badAmounts = [-1, 1e-7, 0.1 + 0.2, 1e12, 1e21];

const nastyText = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '/a\u0000b',
  'a\u001bb',
  '\u202eabc',
  '\ud800',
  'a\udc00',
  '__proto__',
  '../../..',
  "' or 1=1 --",
  '💥',
];

/** A parser of URLs takes these, and writes them in another way. */
const nastyUrls = ['\u0000', '\u007f', '\u202e', '\ud800', '\udc00a'].map((part) => `https://a.example/${part}/`);

interface Shape extends JsonSchema {
  type?: string | readonly string[];
  properties?: Record<string, Shape>;
  required?: string[];
  items?: Shape;
  anyOf?: Shape[];
  additionalProperties?: unknown;
  allOf?: Shape[];
  pattern?: string;
  enum?: unknown[];
  const?: unknown;
  format?: string;
  [limit: string]: unknown;
}

const limitOf = (shape: Shape, name: string) => (typeof shape[name] === 'number' ? (shape[name] as number) : undefined);

/** Everything that a JSON Schema rules out, one thing at a time, so that a new field is attacked as soon as it is declared. */
export function* badValues(schema: JsonSchema, path: BadValue['path'] = []): Generator<BadValue> {
  const shape = schema as Shape;
  const types = typesOf(shape);
  yield* wrongTypes(shape, path);
  if (types.includes('string')) yield* badTexts(shape, path);
  if (types.includes('number') || types.includes('integer')) yield* badNumbers(shape, path);
  if (types.includes('array')) yield* badArrays(shape, path);
  if (types.length > 1 && shape.pattern === usdcPattern.source)
    for (const value of badAmounts) yield { path, value, why: 'no exact amount' };
  for (const name of shape.required ?? []) yield { path: [...path, name], value: MISSING, why: 'missing' };
  for (const [name, property] of Object.entries(shape.properties ?? {})) yield* badValues(property, [...path, name]);
}

const typesOf = ({ type }: Shape): readonly string[] => (type === undefined ? [] : [type].flat());

function* wrongTypes(shape: Shape, path: BadValue['path']): Generator<BadValue> {
  const own = typesOf(shape).map((type) => (type === 'integer' ? 'number' : type));
  if (own.length === 0) return;
  for (const [type, value] of Object.entries(samples))
    if (!own.includes(type)) yield { path, value, why: `${type} instead` };
}

function* badTexts(shape: Shape, path: BadValue['path']): Generator<BadValue> {
  const max = limitOf(shape, 'maxLength');
  if (max !== undefined) yield { path, value: 'a'.repeat(max + 1), why: `${max + 1} characters` };
  const min = limitOf(shape, 'minLength');
  if (min !== undefined && min > 0) yield { path, value: '', why: 'empty' };
  const allowed = shape.enum ?? (shape.const === undefined ? undefined : [shape.const]);
  if (allowed)
    for (const value of ['', 'no-such-value', String(allowed[0]).toUpperCase()])
      yield { path, value, why: 'not allowed' };
  const patterns = [shape, ...(shape.allOf ?? [])].flatMap(({ pattern }) => (pattern === undefined ? [] : [pattern]));
  if (patterns.includes(usdcPattern.source)) for (const value of badMoney) yield { path, value, why: 'no amount' };
  for (const value of nastyText) {
    const isRuledOut = patterns.some((pattern) => !new RegExp(pattern, 'u').test(value));
    if (isRuledOut || shape.format === 'uri' || shape.format === 'date-time')
      yield { path, value, why: 'breaks the pattern' };
  }
  if (shape.format === 'uri') for (const value of nastyUrls) yield { path, value, why: 'hidden in a URL' };
}

function* badNumbers(shape: Shape, path: BadValue['path']): Generator<BadValue> {
  const min = limitOf(shape, 'minimum');
  const max = limitOf(shape, 'maximum');
  if (min !== undefined) yield { path, value: min - 1, why: 'below the least' };
  if (max !== undefined) yield { path, value: max + 1, why: 'above the most' };
  if (shape.type === 'integer') yield { path, value: 1.5, why: 'not whole' };
  yield { path, value: 1e308 * 10, why: 'too large for a number' };
}

function* badArrays(shape: Shape, path: BadValue['path']): Generator<BadValue> {
  const max = limitOf(shape, 'maxItems');
  if (max !== undefined)
    yield { path, value: Array.from({ length: max + 1 }, (_, index) => `item-${index}`), why: `${max + 1} items` };
  const min = limitOf(shape, 'minItems');
  if (min !== undefined && min > 0) yield { path, value: [], why: 'no items' };
  if (shape.items) for (const bad of badValues(shape.items, [...path, 0])) yield bad;
}

/** The objects of a valid value that may have no other fields than those of the schema. */
export function* closedPaths(
  schema: JsonSchema,
  valid: unknown,
  path: BadValue['path'] = [],
): Generator<BadValue['path']> {
  if (typeof valid !== 'object' || valid === null) return;
  const shape = schema as Shape;
  for (const form of shape.anyOf ?? []) yield* closedPaths(form, valid, path);
  if (Array.isArray(valid)) {
    if (shape.items) yield* closedPaths(shape.items, valid[0], [...path, 0]);
    return;
  }
  if (shape.additionalProperties === false) yield path;
  for (const [name, property] of Object.entries(shape.properties ?? {}))
    yield* closedPaths(property, (valid as Record<string, unknown>)[name], [...path, name]);
}

/** A copy of `valid` with the bad value in it. Infinity becomes 1e999, as JSON could spell it. */
export function withBadValue(valid: unknown, { path, value }: BadValue): string | undefined {
  const root = { body: structuredClone(valid) };
  // biome-ignore lint/suspicious/noExplicitAny: walks into a body of any shape
  let at: any = root;
  let key: string | number = 'body';
  for (const step of path) {
    at[key] ??= typeof step === 'number' ? [] : {};
    at = at[key];
    key = step;
  }
  if (value === MISSING) delete at[key];
  else at[key] = value === Number.POSITIVE_INFINITY ? '##infinity##' : value;
  return JSON.stringify(root.body)?.replace('"##infinity##"', '1e999');
}
