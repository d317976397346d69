import { describe, expect, it } from 'vitest';
import { startWatch } from '../../../test/support/watch.ts';
import { compileSchema, type Validator } from './validator.ts';

async function validator(schema: unknown): Promise<Validator> {
  const compiled = await compileSchema(schema);
  if (!('check' in compiled)) throw new Error(JSON.stringify(compiled));
  return compiled;
}

async function refusal(schema: unknown): Promise<string> {
  const compiled = await compileSchema(schema);
  if ('check' in compiled) throw new Error('the schema was taken');
  return compiled.map(({ at, message }) => `${at.join('.')}: ${message}`).join('; ');
}

async function faults(schema: unknown, value: unknown): Promise<string[] | 'too_much'> {
  const found = (await validator(schema)).check(value);
  return found === 'too_much' ? found : found.map(({ at, message }) => `${at.join('.')}: ${message}`);
}

/** Milliseconds that a check takes. */
async function timeOf(schema: unknown, value: unknown): Promise<number> {
  const compiled = await validator(schema);
  const tookMs = startWatch();
  compiled.check(value);
  return tookMs();
}

/** Far above what the bound on steps allows, and far below what the attacks would take without it. */
const HANGS_MS = 5000;

describe('a value', () => {
  it.each<[string, object, unknown, string[]]>([
    ['fits', { type: 'object', properties: { n: { type: 'integer' } } }, { n: 1 }, []],
    [
      'of another type',
      { properties: { n: { type: ['integer', 'null'] } } },
      { n: 'x' },
      ['n: must be of type integer or null'],
    ],
    ['without a field', { required: ['a', 'toString'] }, { b: 1 }, ['a: is required', 'toString: is required']],
    [
      'with a field too many',
      { properties: { a: true }, additionalProperties: false },
      { a: 1, b: 2 },
      ['b: is not allowed'],
    ],
    [
      'with a name of every object',
      { properties: { a: {} }, additionalProperties: false },
      { constructor: 1 },
      ['constructor: is not allowed'],
    ],
    ['with __proto__', { additionalProperties: false }, JSON.parse('{"__proto__":{}}'), ['__proto__: is not allowed']],
    ['in a list', { properties: { l: { items: { maximum: 3 } } } }, { l: [1, 9] }, ['l.1: must be at most 3']],
    [
      'by reference',
      { $defs: { a: { const: 1 } }, properties: { x: { $ref: '#/$defs/a' } } },
      { x: 2 },
      ['x: must be 1'],
    ],
    [
      'with odd names',
      { properties: { 'a/b~c.é': { type: 'string' } } },
      { 'a/b~c.é': 1 },
      ['a/b~c.é: must be of type string'],
    ],
    [
      'with half of a character in a name',
      { additionalProperties: { type: 'string' } },
      { a: 1, '\ud800': 1 },
      [': does not fit at a name that holds half of a character'],
    ],
    [
      'that fits by another choice, with half of a character in a name',
      { anyOf: [{ additionalProperties: false }, { additionalProperties: { type: 'integer' } }] },
      { '\ud800': 1 },
      [],
    ],
    [
      'by a choice',
      { properties: { a: { anyOf: [{ type: 'string' }, { required: ['q'], type: 'object' }] } } },
      { a: 1 },
      ['a: fits none of the alternatives'],
    ],
    [
      'by a pattern',
      { properties: { a: { pattern: '^[a-z]+$' } } },
      { a: 'A' },
      ['a: must match the pattern "^[a-z]+$"'],
    ],
    [
      'by pattern of names',
      { patternProperties: { '^x-': { type: 'number' } }, additionalProperties: false },
      { 'x-a': '1', y: 1 },
      ['x-a: must be of type number', 'y: is not allowed'],
    ],
    [
      'not evaluated',
      { allOf: [{ patternProperties: { '^a': true } }], unevaluatedProperties: false },
      { a1: 1, b: 2 },
      ['b: is not allowed'],
    ],
    [
      'twice in a list',
      { properties: { l: { uniqueItems: true } } },
      { l: [{ a: 1 }, { a: 1 }] },
      ['l: must not have equal items'],
    ],
    ['of another format', { properties: { mail: { format: 'email' } } }, { mail: 'none' }, []],
  ])('%s', async (_, schema, value, expected) => {
    expect(((await faults(schema, value)) as string[]).sort()).toEqual([...expected].sort());
  });

  it('has at most twenty faults told', async () => {
    expect(
      await faults(
        { additionalProperties: false },
        Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`a${i}`, i])),
      ),
    ).toHaveLength(20);
  });
});

describe('a schema', () => {
  it.each<[string, unknown, RegExp]>([
    ['that is no object', true, /must be an object/],
    ['with an unknown type', { type: 'strin' }, /type:/],
    ['with a rule of the wrong kind', { properties: { a: { minLength: -1 } } }, /minLength/],
    ['of another draft', { $schema: 'http://json-schema.org/draft-07/schema#' }, /2020-12/],
    [
      'that refers to another document',
      { properties: { a: { $ref: 'https://example.com/s.json' } } },
      /other documents/,
    ],
    ['that refers to a file', { $ref: 'file:///etc/passwd' }, /other documents/],
    ['that refers to nothing', { $ref: '#/$defs/none' }, /does not name a schema of this document/],
    [
      'that refers into data',
      { $ref: '#/default', default: { pattern: '(a+)+$' } },
      /does not name a schema of this document/,
    ],
    ['that moves its base', { properties: { a: { $id: 'https://example.com/' } } }, /only at the root/],
    ['that refers to itself', { $ref: '#' }, /without an end/],
    [
      'that refers to itself by a choice',
      { $defs: { a: { anyOf: [{ $ref: '#/$defs/b' }] }, b: { not: { $ref: '#/$defs/a' } } } },
      /without an end/,
    ],
    ['with a dynamic reference', { $dynamicRef: '#a', $dynamicAnchor: 'a' }, /not supported/],
    ['with __proto__', JSON.parse('{"properties":{"__proto__":{"type":"string"}}}'), /__proto__/],
    ['with a keyword that every object has', { constructor: { prototype: 1 } }, /is not a keyword/],
    ['of 1 MB', { description: 'x'.repeat(1_000_000) }, /more than 32768 bytes/],
    ['nested a hundred deep', JSON.parse(`${'{"not":'.repeat(100)}true${'}'.repeat(100)}`), /nested deeper/],
    ['of a thousand schemas', { anyOf: Array.from({ length: 1000 }, () => true) }, /more than 500 schemas/],
    ['with a look-behind', { properties: { a: { pattern: '(?<=a)b' } } }, /RE2/],
    ['with a back-reference', { patternProperties: { '(a)\\1': true } }, /RE2/],
    ['with a pattern that unfolds', { pattern: '(a{100}){10}' }, /too large/],
    ['with a case-insensitive range of all letters', { pattern: '(?i:[B-\u{1e940}])' }, /cover 125183 characters/],
    ['with the same range, escaped', { pattern: '(?i:[\\u{42}-\\u{1e940}])' }, /cover 125183 characters/],
    ['with the same range, escaped by halves', { pattern: '(?i:[B-\\ud83a\\udd40])' }, /cover 125\d{3} characters/],
    ['with ranges below another flag', { pattern: '(?m:(?si-m:[\\x42-\uffff]))' }, /cover 65\d{3} characters/],
    ['with many classes that ignore case', { pattern: `(?i:[${'\\p{L}'.repeat(27)}])` }, /cover 540000 characters/],
    ['with many classes', { pattern: `[${'\\p{L}'.repeat(80)}]` }, /cover 56000 characters/],
    ['with a broken pattern', { pattern: '(' }, /not a regular expression/],
    ['with control characters', { title: 'a\u001b[2J' }, /control characters/],
  ])('%s is refused', async (_, schema, says) => {
    expect(await refusal(schema)).toMatch(says);
  });

  it('may ignore case in a pattern', async () => {
    const schema = { pattern: '^(?i:[a-z][a-z0-9-]*|[\\u4e00-\\u9fff]+|\\p{Lu})$' };
    expect(await faults(schema, 'SUMMARIZE-2')).toEqual([]);
    expect(await faults(schema, '2')).toHaveLength(1);
  });

  it('that folds every letter in each of its patterns is refused at once', async () => {
    const names = Array.from({ length: 29 }, (_, at) => `(?i:${'[B-\u{1e940}]'.repeat(80)})${at}`);
    const tookMs = startWatch();
    expect(await refusal({ patternProperties: Object.fromEntries(names.map((name) => [name, {}])) })).toMatch(/cover/);
    expect(tookMs()).toBeLessThan(HANGS_MS / 5);
  });

  it('may refer to itself one step down in the value', async () => {
    const node = { type: 'object', properties: { v: { type: 'integer' }, kids: { items: { $ref: '#/$defs/node' } } } };
    const schema = { $defs: { node }, $ref: '#/$defs/node' };
    expect(await faults(schema, { v: 1, kids: [{ v: 2, kids: [{ v: 'x' }] }] })).toEqual([
      'kids.0.kids.0.v: must be of type integer',
    ]);
  });

  it('may have an id and its dialect at the root, and definitions of older drafts', async () => {
    const schema = {
      $id: 'https://example.com/a',
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $ref: '#/definitions/a',
      definitions: { a: { type: 'object' } },
    };
    expect(await faults(schema, [])).toEqual([': must be of type object']);
  });
});

describe('a check is bounded', () => {
  const text = 'a'.repeat(500_000);
  const fields = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`a${index}`, index]));
  let deep = {};
  for (let level = 0; level < 100; level++) deep = { x: deep };
  const twice = { properties: { x: { $ref: '#/$defs/a' } }, required: ['none'] };
  const branching = (choice: string) => ({ $defs: { a: { [choice]: [twice, twice, twice] } }, $ref: '#/$defs/a' });
  const chain = Object.fromEntries(
    Array.from({ length: 60 }, (_, index) => [
      `a${index}`,
      { anyOf: [{ $ref: `#/$defs/a${index + 1}` }, { $ref: `#/$defs/a${index + 1}` }] },
    ]),
  );

  it.each<[string, object, unknown]>([
    ['a choice that doubles with each level of the value', branching('anyOf'), deep],
    ['the same with oneOf', branching('oneOf'), deep],
    ['references that double without a step down', { $defs: { ...chain, a60: { const: 1 } }, $ref: '#/$defs/a0' }, {}],
    [
      '500 lengths of a long text',
      { properties: { t: { allOf: Array.from({ length: 490 }, () => ({ maxLength: 10 ** 6 })) } } },
      { t: text },
    ],
    [
      'many patterns on a long text',
      {
        properties: {
          t: { allOf: Array.from({ length: 50 }, (_, n) => ({ pattern: `(.*)(.*)(.*)[^a]{${n + 1}}$` })) },
        },
      },
      { t: text },
    ],
    [
      'many patterns on many names',
      {
        patternProperties: Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`(.*)(.*)[^a]{${n + 1}}$`, true])),
      },
      fields,
    ],
    [
      'nested lists without equal items',
      { $defs: { l: { uniqueItems: true, items: { $ref: '#/$defs/l' } } }, $ref: '#/$defs/l' },
      JSON.parse('['.repeat(100) + Array(20_000).fill('1').join() + ']'.repeat(100)),
    ],
    [
      'a long list of values for each item',
      { items: { enum: Array.from({ length: 5000 }, (_, index) => index) } },
      Array(40_000).fill(-1),
    ],
    ['400,000 items', { items: true }, Array(400_000).fill(1)],
  ])('%s', async (_, schema, value) => {
    expect((await validator(schema)).check(value)).toBe('too_much');
    expect(await timeOf(schema, value)).toBeLessThan(HANGS_MS);
  });

  it('patterns that hang other engines end at once', async () => {
    for (const pattern of ['^(a+)+$', '(x+x+)+y', '^(a|a)*$', '(a|aa)+$', '^([a-z]+)*\\d$']) {
      expect(await timeOf({ pattern }, `${'a'.repeat(5000)}!`)).toBeLessThan(HANGS_MS);
      expect(await faults({ pattern }, `${'a'.repeat(5000)}!`)).toHaveLength(1);
    }
  });

  it('a value nested deeper than 128 levels is refused before it is walked', async () => {
    const nested = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000));
    expect(await faults({}, nested)).toEqual([': is nested deeper than 128 levels']);
  });
});
