import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formsOf } from './lexicon.ts';
import { coverageOf, decidingWords, MAX_DECIDING, taskWords } from './task-words.ts';

describe('the words of a task', () => {
  it.each([
    ['Please translate this contract into German.', ['translate', 'contract', 'german']],
    ['The the THE and of', []],
    ['Übersetze ＡＢＣ, 3D', ['übersetze', 'abc', '3d']],
    ['', []],
  ])('of %j are %j', (task, words) => expect(taskWords(task)).toEqual(words));

  it.each([
    ['translate', 'translation'],
    ['translate', 'translators'],
    ['contract', 'contracts'],
    ['images', 'image'],
    ['writing', 'writer'],
    ['queries', 'query'],
    ['summarise', 'summarisation'],
    ['extraction', 'extract'],
    ['taxes', 'tax'],
    ['tax', 'taxes'],
    ['pdf', 'pdfs'],
    ['summarize', 'summarises'],
    ['analyse', 'analyzer'],
    ['colour', 'colors'],
    ['center', 'centre'],
    ['catalog', 'catalogues'],
    ['labeling', 'labelled'],
    ['licence', 'license'],
  ])('%s is found as %s', (word, form) => expect(formsOf(word)).toContain(form));

  it.each([['ai'], ['gpt4'], ['übersetzen'], ['日本語']])('%s has no other form', (word) =>
    expect(formsOf(word)).toEqual([word]),
  );

  it('come with few forms, the word itself among them', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{1,20}$/), (word) => {
        expect(formsOf(word)).toContain(word);
        expect(formsOf(word).length).toBeLessThan(60);
      }),
    );
  });
});

describe('the deciding words', () => {
  const known = (word: string, agents: number) => ({ word, agents });

  it('are those that the fewest agents have; a word that nobody has is ignored', () => {
    const words = [known('text', 900), known('qubit', 2), known('zzz', 0), known('tax', 50)];
    expect(decidingWords(words, 1000).map(({ word }) => word.word)).toEqual(['qubit', 'tax', 'text']);
  });

  it('are at most 32, whatever the task', () => {
    const words = Array.from({ length: 5000 }, (_, index) => known(`w${index}`, 1 + (index % 97)));
    const deciding = decidingWords(words, 10_000);
    expect(deciding).toHaveLength(MAX_DECIDING);
    expect(deciding.every(({ word }) => word.agents === 1)).toBe(true);
  });

  it('weigh the more the rarer they are, and something even when every agent has them', () => {
    const [rare, usual, everywhere] = decidingWords([known('c', 100), known('b', 10), known('a', 1)], 100);
    expect(rare?.weight).toBeGreaterThan(usual?.weight ?? 0);
    expect(usual?.weight).toBeGreaterThan(everywhere?.weight ?? 0);
    expect(everywhere?.weight).toBeGreaterThan(0);
  });
});

describe('coverage', () => {
  const deciding = decidingWords(
    ['a', 'b', 'c', 'd'].map((word) => ({ word, agents: 10 })),
    100,
  );
  const first = (count: number) => (index: number) => index < count;

  it.each([
    ['all words in a short text', 4, 20, 1],
    ['half of them', 2, 40, 0.5],
    ['none', 0, 10, 0],
    ['all in a list of 160 words', 4, 160, 0.5],
    ['all in a list of 360 words', 4, 360, 1 / 3],
  ])('of %s', (_name, count, length, value) =>
    expect(coverageOf(deciding, first(count), length)).toBeCloseTo(value, 9),
  );

  it('of no deciding word is 0', () => expect(coverageOf([], () => true, 1)).toBe(0));

  it('lies between 0 and 1', () => {
    const word = fc.record({ word: fc.constant('w'), agents: fc.integer({ min: 0, max: 2_000_000 }) });
    fc.assert(
      fc.property(fc.array(word), fc.nat(1_000_000), fc.nat(5000), fc.nat(40), (words, agents, length, count) => {
        const value = coverageOf(decidingWords(words, agents), first(count), length);
        expect(value).toBeGreaterThanOrEqual(0);
        expect(value).toBeLessThanOrEqual(1);
      }),
    );
  });
});
