import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Lexicon } from './lexicon.ts';
import { MAX_ALIKE, TypoTable } from './typo-table.ts';

/** Words that differ in their last character alone. */
const alikeWords = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `zqx${String.fromCodePoint(0x4e00 + index)}`);

function tableOf(words: readonly string[], seed = 7) {
  let looks = 0;
  const table = new TypoTable((id) => {
    looks++;
    return words[id] as string;
  }, seed);
  for (const id of words.keys()) table.add(id);
  const near = (word: string) => new Set(table.near(word).map((id) => words[id] as string));
  return { table, near, looks: () => looks };
}

/** Whatever reads so many numbers of typed arrays fails: in place of a bound of time. */
function limitReads(most: number): void {
  let reads = 0;
  const handler: ProxyHandler<Int32Array> = {
    get(target, key) {
      const value = Reflect.get(target, key, target);
      if (typeof value === 'function') return value.bind(target);
      if (typeof key === 'string' && /^\d+$/.test(key) && ++reads > most) throw new Error(`more than ${most} reads`);
      return value;
    },
    set: (target, key, value) => Reflect.set(target, key, value, target),
  };
  const construct = (target: Int32ArrayConstructor, [length]: unknown[]) =>
    new Proxy(new target(length as number), handler);
  vi.stubGlobal('Int32Array', new Proxy(Int32Array, { construct }));
}

afterEach(() => vi.unstubAllGlobals());

describe('of very many words that differ in one letter', () => {
  it('a mistake is compared with few, and stands for few', () => {
    const { near, looks } = tableOf(alikeWords(40_000));
    const before = looks();
    expect(near('zqx?').size).toBe(MAX_ALIKE);
    // The word, and it without one of its four characters.
    expect(looks() - before).toBeLessThanOrEqual(MAX_ALIKE * 5);
  });

  it('a beginning stands for a bounded number, the first in their order', () => {
    const lexicon = new Lexicon(7);
    const words = alikeWords(20_000);
    for (const word of words.toReversed()) lexicon.take(word);
    const meant = lexicon.resolve('zqx', true, () => true).map((id) => lexicon.textOf(id));
    expect(meant).toEqual(words.slice(0, 10_000));
  });

  it('all are learned and forgotten with at most 300 reads of the table for each', () => {
    const words = alikeWords(10_000);
    limitReads(words.length * 300);
    const { table, near } = tableOf(words);
    for (const id of words.keys()) table.delete(id);
    expect(near('zqx?').size).toBe(0);
  });

  it('a mistake stands for the same ones, in whatever order and with whatever seed they were learned', () => {
    const words = alikeWords(2000);
    const expected = new Set(words.slice(0, MAX_ALIKE));
    expect(tableOf(words).near('zqx?')).toEqual(expected);
    expect(tableOf(words.toReversed(), 8).near('zqx?')).toEqual(expected);
  });

  it('those that are left are found when the others are gone', () => {
    const words = ['translate', ...alikeWords(40_000)];
    const { table, near } = tableOf(words);
    for (let id = words.length - 1; id > 5; id--) table.delete(id);
    expect(near('zqx?')).toEqual(new Set(words.slice(1, 6)));
    expect(near('tranlsate')).toEqual(new Set(['translate']));
    for (let id = 5; id > 0; id--) table.delete(id);
    expect(near('zqx?')).toEqual(new Set());
    expect(near('trnslate')).toEqual(new Set(['translate']));
  });
});

it('a mistake stands for the first words that share a variant with it, after any changes', () => {
  const words = alikeWords(150);
  const changes = fc.array(fc.record({ first: fc.nat(149), count: fc.integer({ min: 1, max: 150 }) }), {
    maxLength: 8,
  });
  fc.assert(
    fc.property(changes, fc.integer(), (drawn, seed) => {
      const table = new TypoTable((id) => words[id] as string, seed);
      const known = new Set<number>();
      for (const { first, count } of drawn) {
        for (let id = first; id < Math.min(first + count, words.length); id++) {
          if (known.delete(id)) table.delete(id);
          else {
            table.add(id);
            known.add(id);
          }
        }
        const wanted = [...known].sort((a, b) => a - b).slice(0, MAX_ALIKE);
        expect(new Set(table.near('zqx?'))).toEqual(new Set(wanted));
      }
    }),
  );
});
