import { expect, it } from 'vitest';
import { requireBounded, trailOf } from './body-bounds.ts';

const bounds = {
  maxValues: 20,
  maxChars: 100,
  content: trailOf('params.arguments', '*.params.arguments', 'parts.*.data'),
};
const refusalOf = (body: unknown): string | null => {
  try {
    requireBounded(body, bounds);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
};
const many = (count: number) => Array(count).fill({});

it.each<[string, unknown, RegExp | null]>([
  ['content may be large', { params: { arguments: { list: many(1000), text: 'x'.repeat(1000) } } }, null],
  ['content of each of a list', [{ params: { arguments: many(1000) } }, { params: { arguments: many(1000) } }], null],
  ['content below any index', { parts: [{ data: many(1000) }, { data: 'x'.repeat(1000) }] }, null],
  ['values beside it', { params: { arguments: {}, _meta: many(20) } }, /more than 20 values that are not its content/],
  ['values of another name', { parts: [{ dato: many(20) }] }, /more than 20 values/],
  ['values of a name of every object', JSON.parse('{"constructor":{"arguments":[1,2,3]}}'), null],
  ['a long text beside it', { params: { name: 'x'.repeat(101) } }, /more than 100 characters that are not its content/],
  ['long names beside it', { params: { [`${'x'.repeat(101)}`]: 1 } }, /more than 100 characters/],
  ['half a million values of content', { params: { arguments: many(500_000) } }, /more than 250000 values/],
  [
    'an object of content with very many fields',
    { params: { arguments: Object.fromEntries(Array.from({ length: 10_001 }, (_, at) => [at, at])) } },
    /more than 10000 fields in one object/,
  ],
  [
    'content of 33 levels',
    { params: { arguments: JSON.parse(`${'['.repeat(31)}${']'.repeat(31)}`) } },
    /nested deeper/,
  ],
  ['content with __proto__', { params: { arguments: JSON.parse('{"__proto__":1}') } }, /__proto__/],
])('%s', (_, body, says) => {
  if (says) expect(refusalOf(body)).toMatch(says);
  else expect(refusalOf(body)).toBeNull();
});
