import fc from 'fast-check';
import { expect, it } from 'vitest';
import { canonicalJson } from './canonical-json.ts';

it('is as in the examples of RFC 8785', () => {
  const literal = String.raw`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`;
  expect(canonicalJson(JSON.parse(literal))).toBe(
    String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
  );
  const names = String.raw`{"\u20ac":"Euro","\r":"Return","\ufb33":"Dalet","1":"One","\ud83d\ude00":"Smiley","\u0080":"Control","\u00f6":"o"}`;
  expect(Object.values(JSON.parse(canonicalJson(JSON.parse(names)).replace('"1"', '"one"')))).toEqual([
    'Return',
    'One',
    'Control',
    'o',
    'Euro',
    'Smiley',
    'Dalet',
  ]);
});

it('names that JavaScript treats apart are members like any other', () => {
  expect(canonicalJson(JSON.parse('{"b":1,"__proto__":{"10":1,"9":2},"constructor":[]}'))).toBe(
    '{"__proto__":{"10":1,"9":2},"b":1,"constructor":[]}',
  );
});

it('is JSON of the same value, the same for every order of names', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = canonicalJson(value);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      expect(canonicalJson(reversed(value))).toBe(text);
    }),
  );
});

it('takes values far deeper than the node stores', () => {
  let value: unknown = 'x';
  for (let level = 0; level < 2000; level++) value = level % 2 === 0 ? { b: value, a: [] } : [value, 1];
  const text = canonicalJson(value);
  expect(canonicalJson(JSON.parse(text))).toBe(text);
  expect(text.startsWith('[{"a":[],"b":[{"a":[],"b":')).toBe(true);
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).reverse();
  return Object.fromEntries(entries.map(([name, member]) => [name, reversed(member)]));
}
