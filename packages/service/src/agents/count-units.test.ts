import { describe, expect, it } from 'vitest';
import { countUnits, unitsFault } from './count-units.ts';

const values = [2.1, 0, 1e308, ['a', 'b', 'c'], [], 'äöü😀', ''];
const refused = [undefined, null, true, -1, Number.NaN, Number.POSITIVE_INFINITY, { length: 9 }];

describe('the units of a call', () => {
  it.each([
    ['number', [3n, 0n, 1_000_000_000_000n, null, null, null, null]],
    ['items', [null, null, null, 3n, 0n, null, null]],
    ['characters', [null, null, null, null, null, 4n, 0n]],
    ['bytes', [null, null, null, null, null, 10n, 0n]],
    // Declared before there was a measure.
    [undefined, [3n, 0n, 1_000_000_000_000n, 3n, 0n, 4n, 0n]],
  ] as const)('as %s are counted of this type and of no other', (measure, counts) => {
    const of = (pages: unknown) => countUnits({ count: '/pages', measure }, { pages });
    expect(values.map(of)).toEqual(counts);
    expect(refused.map(of)).toEqual(refused.map(() => null));
    if (measure === 'number') expect(['1000', [1000], '', '1e3'].map(of)).toEqual([null, null, null, null]);
  });

  it('are counted where the pointer leads, and nowhere else', () => {
    const at = (count: string, input: Record<string, unknown>) => countUnits({ count }, input);
    expect(at('/a/0/b~1c~0', { a: [{ 'b/c~': 5 }] })).toBe(5n);
    expect(at('/', { '': 4 })).toBe(4n);
    expect(at('/__proto__', JSON.parse('{"__proto__": 7}'))).toBe(7n);
    for (const pointer of [
      '/constructor/length',
      '/__proto__/x',
      '/a/length',
      '/toString',
      '/a/0/0',
      '/a/01',
      '/b/length',
    ])
      expect(at(pointer, { a: [1, 2], b: 'text' })).toBeNull();
    expect(unitsFault({ count: '/a~1b/0', measure: 'items' }).at).toEqual(['a/b', '0']);
  });
});
