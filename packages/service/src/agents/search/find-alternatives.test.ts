import { termsOf } from '@agent-network/search-index/words/words';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Comparable, similarity } from './find-alternatives.ts';

const wanted: Comparable = {
  capabilities: ['a', 'b'],
  terms: ['=a', '=b', 'fast', '+fast', 'text', '+text', '#text'],
  perRequestMicro: 50_000n,
  reputation: 800,
};

describe('similarity', () => {
  it.each([
    ['a twin', {}, 1],
    ['half of the capabilities', { capabilities: ['a'] }, 0.7],
    ['one capability more', { capabilities: ['a', 'b', 'c'] }, 0.8],
    ['other capabilities', { capabilities: ['y', 'z'] }, 0.4],
    ['no word in common', { terms: ['=a', 'slow'] }, 0.8],
    ['a word of the name in common', { terms: ['text', '+text', '#text'] }, 0.92],
    ['a word of the tags in common', { terms: ['fast', '+fast'] }, 0.88],
    ['twice the price', { perRequestMicro: 100_000n }, 0.95],
    ['half the price', { perRequestMicro: 25_000n }, 0.95],
    ['nothing to pay', { perRequestMicro: 0n }, 0.9],
    ['half the reputation', { reputation: 400 }, 0.95],
    ['a better reputation', { reputation: 1000 }, 1],
    ['a stranger', { capabilities: ['z'], terms: ['x'], perRequestMicro: 10n ** 15n, reputation: 0 }, 0],
  ])('of %s', (_name, change, value) => {
    expect(similarity(wanted, { ...wanted, ...change })).toBeCloseTo(value, 2);
  });

  it('takes the terms as they are stored', () => {
    const described = { capabilities: ['a'], metadata: { tags: ['quick'] }, perRequestMicro: 1n, reputation: 1 };
    const one = { ...described, terms: termsOf({ ...described, name: 'Writer', description: 'Writes letters.' }) };
    const other = { ...described, terms: termsOf({ ...described, name: 'Writer', description: 'Paints.' }) };
    expect(similarity(one, other)).toBeCloseTo(1 - 0.2 * (3 / 8), 6);
  });

  const word = fc.constantFrom('=a', 'w', 'x', '+x', '#x', 'y');
  const agent = fc.record({
    capabilities: fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd')),
    terms: fc.uniqueArray(word),
    perRequestMicro: fc.bigInt(0n, 10n ** 18n),
    reputation: fc.integer({ min: 0, max: 1000 }),
  });

  it('is 1 for the agent itself, and between 0 and 1 for all', () => {
    fc.assert(fc.property(agent, (one) => similarity(one, one) === 1));
    fc.assert(
      fc.property(agent, agent, (one, two) => {
        expect(similarity(one, two)).toBeGreaterThanOrEqual(0);
        expect(similarity(one, two)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('is the same both ways among agents of one reputation, whatever the order of words and capabilities', () => {
    fc.assert(
      fc.property(agent, agent, (one, two) => {
        const there = similarity(one, { ...two, reputation: one.reputation });
        expect(similarity({ ...two, reputation: one.reputation }, one)).toBe(there);
        const turned = { ...two, capabilities: two.capabilities.toReversed(), terms: two.terms.toReversed() };
        expect(similarity(one, turned)).toBe(similarity(one, two));
      }),
    );
  });

  it('never falls when a candidate becomes more reputable', () => {
    fc.assert(
      fc.property(agent, agent, fc.integer({ min: 0, max: 1000 }), (one, two, more) => {
        const better = { ...two, reputation: Math.max(two.reputation, more) };
        expect(similarity(one, better)).toBeGreaterThanOrEqual(similarity(one, two));
      }),
    );
  });
});
