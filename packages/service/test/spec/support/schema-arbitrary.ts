import fc, { type Arbitrary } from 'fast-check';
import type { Resolve, Schema } from './schema-check.ts';

/** Values that exist, by what a field or parameter is called: an id that names nothing tests little. */
export type Pool = (name: string) => readonly string[];

interface Making {
  readonly resolve: Resolve;
  readonly pool: Pool;
}

const MAX_ITEMS = 5;

/** Valid values of a schema, often at its boundaries. */
export function arbitraryOf(schema: Schema, making: Making, name = ''): Arbitrary<unknown> {
  const node = making.resolve(schema);
  if (node.const !== undefined) return fc.constant(node.const);
  if (node.enum) return fc.constantFrom(...node.enum);
  const choices = node.anyOf ?? node.oneOf;
  if (choices) return fc.oneof(...choices.map((each) => arbitraryOf(each, making, name)));
  if (Array.isArray(node.type))
    return fc.oneof(...node.type.map((type: string) => arbitraryOf({ ...node, type }, making, name)));
  switch (node.type) {
    case 'string':
      return text(node, making.pool(name));
    case 'integer':
      return fc.oneof(...limits(node).map((each) => fc.constant(each)), fc.integer(range(node)));
    case 'number':
      return fc.oneof(...limits(node).map((each) => fc.constant(each)), fc.double({ ...range(node), noNaN: true }));
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return list(node, making, name);
    case 'object':
      return object(node, making);
    default:
      return fc.jsonValue({ maxDepth: 3 });
  }
}

const limits = ({ minimum, maximum }: Schema) => [minimum ?? 0, maximum ?? 1_000_000];
const range = ({ minimum, maximum }: Schema) => ({ min: minimum ?? -1_000_000, max: maximum ?? 1_000_000 });

function text(node: Schema, pool: readonly string[]): Arbitrary<unknown> {
  const own = freeText(node);
  return pool.length > 0 ? fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...pool) }, own) : own;
}

function freeText({ pattern, format, allOf, minLength = 0, maxLength = 200 }: Schema): Arbitrary<string> {
  if (format === 'uri') return urls;
  if (format === 'date-time') return times;
  if (format === 'date') return times.map((time) => time.slice(0, 10));
  const patterns = [pattern, ...(allOf ?? []).map((each) => each.pattern)].filter((each) => each !== undefined);
  const anything = fc.oneof(
    fc.string({ minLength, maxLength: Math.min(maxLength, 300), unit }),
    fc.constant('x'.repeat(Math.min(maxLength, 5000))),
    fc.constant('x'.repeat(minLength)),
  );
  const [first] = patterns;
  if (first === undefined || first.startsWith('^[^')) return anything;
  return matching(first, Math.min(maxLength, 300));
}

const made = new Map<string, Arbitrary<string>>();

/** Kept: what a pattern allows takes longer to find out than the calls of an operation. */
function matching(pattern: string, maxLength: number): Arbitrary<string> {
  const name = `${maxLength} ${pattern}`;
  const found = made.get(name) ?? fc.stringMatching(new RegExp(pattern, 'u'), { maxLength });
  made.set(name, found);
  return found;
}

const SURROGATES = { from: 0xd800, count: 0x800 } as const;

/** Any character; unit 'binary' and `webPath` of fast-check list all million of them first. */
const unit = fc.integer({ min: 0, max: 0x10ffff - SURROGATES.count }).map(
  (nth) => String.fromCodePoint(nth < SURROGATES.from ? nth : nth + SURROGATES.count),
  // By this fast-check sees which of its dangerous words can be made.
  (character) => {
    const [code = -1, more] = [...String(character)].map((each) => each.codePointAt(0) ?? -1);
    if (more !== undefined) throw new Error('more than one character');
    return code < SURROGATES.from ? code : code - SURROGATES.count;
  },
);

const paths = fc
  .array(fc.string({ unit, maxLength: 10 }), { maxLength: 5 })
  .map((segments) => segments.map((each) => `/${encodeURIComponent(each.toWellFormed())}`).join(''));

/** Nothing that reaches a stranger: closed ports of this machine and names that never resolve (RFC 2606). */
const urls = fc.oneof(
  fc.constantFrom('http://127.0.0.1:9/x', 'https://agents.invalid/', 'http://[::1]:9/', 'HTTP://127.0.0.1:1'),
  paths.map((path) => `http://127.0.0.1:9${path}`),
);

const times = fc.oneof(
  fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true }).map((date) => date.toISOString()),
  fc.integer({ min: -1000, max: 120_000 }).map((ms) => new Date(Date.now() + ms).toISOString()),
);

function list(
  { items = {}, minItems = 0, maxItems = MAX_ITEMS }: Schema,
  making: Making,
  name: string,
): Arbitrary<unknown> {
  const item = arbitraryOf(items, making, name);
  const usual = fc.array(item, { minLength: minItems, maxLength: Math.max(minItems, Math.min(maxItems, MAX_ITEMS)) });
  return fc.oneof(
    { weight: 9, arbitrary: usual },
    fc.array(item, { minLength: Math.min(maxItems, 60), maxLength: Math.min(maxItems, 60) }),
  );
}

function object(node: Schema, making: Making): Arbitrary<unknown> {
  const { properties = {}, required = [], additionalProperties } = node;
  const model = Object.fromEntries(
    Object.entries(properties).map(([name, each]) => [name, arbitraryOf(each, making, name)]),
  );
  if (Object.keys(model).length === 0 && additionalProperties !== false)
    return fc.dictionary(fc.string({ maxLength: 20 }), fc.jsonValue({ maxDepth: 3 }), {
      maxKeys: 5,
      noNullPrototype: true,
    });
  const least = Object.fromEntries(Object.entries(model).filter(([name]) => required.includes(name)));
  const whole = fc.record(model, { requiredKeys: [...required], noNullPrototype: true });
  return fc.oneof(fc.record(least, { noNullPrototype: true }), { weight: 2, arbitrary: whole });
}
