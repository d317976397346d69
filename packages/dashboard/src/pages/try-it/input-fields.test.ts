import { describe, expect, it } from 'vitest';
import { fieldsOf, fits, type Kind, numberTyped, problemAt, problemsBeside, withValue } from './input-fields.ts';

const text: Kind = { is: 'text', isLong: true };
const line: Kind = { is: 'text', isLong: false };
const number: Kind = { is: 'number' };
const json: Kind = { is: 'json' };

const kindOf = (schema: unknown) => fieldsOf({ type: 'object', properties: { it: schema } })?.[0]?.kind;

it.each<[string, unknown, Kind]>([
  ['a text', { type: 'string' }, text],
  ['a short text', { type: 'string', maxLength: 200 }, line],
  ['a text of a format', { type: 'string', format: 'date' }, line],
  ['one type in a list', { type: ['string'], pattern: '^a' }, line],
  ['a number', { type: 'number' }, number],
  ['a whole number', { type: 'integer', minimum: 1 }, number],
  ['yes or no', { type: 'boolean' }, { is: 'choice', values: [true, false] }],
  ['some values', { enum: ['a', 1, null] }, { is: 'choice', values: ['a', 1, null] }],
  ['one value', { const: null }, { is: 'choice', values: [null] }],
  ['a list of texts', { type: 'array', items: { type: 'string' } }, { is: 'list', item: text }],
  [
    'a list of some values',
    { type: 'array', items: { enum: [1] } },
    { is: 'list', item: { is: 'choice', values: [1] } },
  ],
  ['a list of lists', { type: 'array', items: { type: 'array', items: { type: 'string' } } }, json],
  ['a list of objects', { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } }, json],
  ['a list by place', { type: 'array', prefixItems: [{}], items: { type: 'string' } }, json],
  ['several types', { type: ['string', 'null'] }, json],
  ['a reference', { $ref: '#/$defs/a' }, json],
  ['alternatives', { anyOf: [{ type: 'string' }, { type: 'number' }] }, json],
  ['an object without fields', { type: 'object' }, json],
  ['anything', true, json],
  ['nothing', false, json],
  ['no value at all', { enum: [] }, json],
])('has an input for %s', (_what, schema, kind) => expect(kindOf(schema)).toEqual(kind));

it('nests objects once; deeper ones are JSON', () => {
  const inner = { type: 'object', properties: { deep: { type: 'string' } } };
  const kind = kindOf({ type: 'object', properties: { a: { type: 'number' }, inner }, required: ['a'] });
  expect(kind).toMatchObject({ is: 'group', fields: [{ name: 'a', isRequired: true, kind: number }, { kind: json }] });
});

it('marks what is required, also without a schema of its own, and says what the schema says', () => {
  const a = { type: 'integer', title: 'Pages', description: 'To read.', minimum: 1, maximum: 9, default: 2 };
  expect(fieldsOf({ type: 'object', properties: { a }, required: ['constructor'] })).toEqual([
    { name: 'a', label: 'Pages', isRequired: false, help: 'To read. At least 1. At most 9. Default: 2.', kind: number },
    { name: 'constructor', label: 'constructor', isRequired: true, help: undefined, kind: json },
  ]);
});

it.each([undefined, true, {}, { type: 'object' }, { type: 'object', properties: [] }])(
  'has no form for input that is free: %o',
  (schema) => expect(fieldsOf(schema)).toBeNull(),
);

it.each<[Kind, unknown, boolean]>([
  [text, undefined, true],
  [text, 'a\nb', true],
  [line, 'a\nb', false],
  [text, 'a\r\nb', false],
  [text, 1, false],
  [text, null, false],
  [number, 1.5, true],
  [number, 'many', true],
  [number, '5', false],
  [{ is: 'choice', values: [1, 'a'] }, '1', false],
  [{ is: 'choice', values: [null] }, null, true],
  [{ is: 'list', item: number }, [1, null], true],
  [{ is: 'list', item: line }, ['a', 1], false],
  [{ is: 'list', item: line }, 'a', false],
  [{ is: 'group', fields: [] }, [], false],
  [json, null, true],
])('shows by %o the value %o unchanged: %s', (kind, value, doesFit) => expect(fits(kind, value)).toBe(doesFit));

it.each<[string, number | string | undefined]>([
  ['', undefined],
  ['1', 1],
  ['-0.50', -0.5],
  ['1.', 1],
  ['2e3', 2000],
  ['-', '-'],
  ['1,5', '1,5'],
  ['0x10', '0x10'],
  [' ', ' '],
  ['1e999', '1e999'],
  ['9007199254740993', '9007199254740993'],
])('reads the number %o as %o', (typed, value) => expect(numberTyped(typed)).toBe(value));

describe('a changed field', () => {
  const input = { extra: [1, { a: null }], a: 'x', group: { b: 1, more: true } };
  it('leaves everything else as it was, in its order', () => {
    const after = withValue(input, ['a'], 'y');
    expect(JSON.stringify(after)).toBe('{"extra":[1,{"a":null}],"a":"y","group":{"b":1,"more":true}}');
    expect(withValue(input, ['group', 'b'], 2)).toEqual({ ...input, group: { b: 2, more: true } });
    expect(withValue({}, ['group', 'b'], 2)).toEqual({ group: { b: 2 } });
  });
  it('is left out when it is emptied, with a group that has nothing else', () => {
    expect(withValue(input, ['a'], undefined)).toEqual({ extra: input.extra, group: input.group });
    expect(withValue({ a: '', group: { b: 1 } }, ['group', 'b'], undefined)).toEqual({ a: '' });
    expect(withValue({ group: {} }, ['a'], 'x')).toEqual({ group: {}, a: 'x' });
  });
  it('may have any name', () => {
    const after = withValue(JSON.parse('{"__proto__":{"a":1},"toString":2}'), ['constructor'], 'x');
    expect(JSON.stringify(after)).toBe('{"__proto__":{"a":1},"toString":2,"constructor":"x"}');
  });
});

it('finds what is wrong with a field, below it, and beside all fields', () => {
  const problems = new Map([
    ['task', 'is required'],
    ['input.a', 'is required'],
    ['input.list.0.b', 'must be a number'],
    ['input.ab', 'is not taken'],
  ]);
  expect(problemAt(problems, 'input.a')).toBe('is required');
  expect(problemAt(problems, 'input.list')).toBe('0.b must be a number');
  expect(problemAt(problems, 'input.lis')).toBeUndefined();
  expect(problemsBeside(problems, ['a', 'list'])).toEqual(['ab is not taken']);
});
