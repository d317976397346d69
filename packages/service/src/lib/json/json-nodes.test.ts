import fc from 'fast-check';
import { expect, it } from 'vitest';
import { countJsonNodes } from './json-nodes.ts';

const countOf = (value: unknown): number => countJsonNodes(Buffer.from(JSON.stringify(value)));

function nodesOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const below = Object.values(value).reduce((sum: number, each) => sum + nodesOf(each), 0);
  return 1 + below + (Array.isArray(value) ? 0 : Object.keys(value).length);
}

it('names, lists and objects are counted, and nothing within texts', () =>
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(countOf(value)).toBe(nodesOf(value));
    }),
  ));

it.each([
  ['{"a\\":[{":"[{:"}', 2],
  ['[[],{}]', 3],
  ['"\\\\"', 0],
  ['{"a":', 2],
] as const)('of %s there are %s', (text, count) => expect(countJsonNodes(Buffer.from(text))).toBe(count));
