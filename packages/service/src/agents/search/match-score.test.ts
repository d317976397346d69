import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Candidate, matchScore, matchWeights, NO_RECORD, rankCandidates } from './match-score.ts';

const usual = 50_000n;
const known: Candidate = {
  ...{ id: 'agt_a', isVerified: true, coverage: 1, reputation: 800, priceMicro: usual, responseMs: 0, load: 0 },
};
const order = (...candidates: Candidate[]) => rankCandidates(candidates, usual).map(({ id }) => id);

describe('the parts of a match', () => {
  it.each([
    ['the whole task, with a record', {}, { text: 0.813, reputation: 0.625, price: 0.5, latency: 1, load: 1 }],
    ['the whole task, without a record', { reputation: NO_RECORD }, { text: 0.5, reputation: 0 }],
    ['a ruined record', { reputation: 10 }, { text: 0.5, reputation: 0 }],
    ['the best record', { reputation: 1000 }, { text: 1, reputation: 1 }],
    ['no word', { coverage: 0 }, { text: 0 }],
    ['nothing to pay', { priceMicro: 0n }, { price: 1 }],
    ['the least price', { priceMicro: 1n }, { price: 1 }],
    ['three times the usual price', { priceMicro: 3n * usual }, { price: 0.25 }],
    ['a slow answer', { responseMs: 2500 }, { latency: 0.5 }],
    ['an answer after minutes', { responseMs: 300_000 }, { latency: 0 }],
    ['no measured answer', { responseMs: null }, { latency: 0 }],
    ['a busy agent', { load: 1 }, { load: 0 }],
  ])('of %s', (_name, change, parts) => {
    expect(matchScore({ ...known, ...change }, usual).parts).toMatchObject(parts);
  });

  it('are 1 for the price when all are free', () =>
    expect(matchScore({ ...known, priceMicro: 0n }, 0n).parts.price).toBe(1));

  it('add up to the score by their weights, which add up to 100', () => {
    expect(Object.values(matchWeights).reduce((sum, weight) => sum + weight, 0)).toBe(100);
    fc.assert(
      fc.property(candidates, fc.bigInt(0n, 10n ** 18n), (candidate, price) => {
        const { score, parts } = matchScore(candidate, price);
        const sum = Object.entries(parts).reduce(
          (total, [name, value]) => total + (matchWeights[name as keyof typeof parts] / 100) * value,
          0,
        );
        expect(sum).toBeCloseTo(score, 9);
        for (const value of [score, ...Object.values(parts)]) {
          expect(value).toBeGreaterThanOrEqual(0);
          expect(value).toBeLessThanOrEqual(1);
        }
      }),
    );
  });
});

const fraction = fc.double({ min: 0, max: 1, noNaN: true });
const candidates = fc.record({
  id: fc.stringMatching(/^agt_[a-z]{1,3}$/),
  isVerified: fc.boolean(),
  coverage: fraction,
  reputation: fc.integer({ min: 0, max: 1000 }),
  priceMicro: fc.bigInt(0n, 10n ** 18n),
  responseMs: fc.option(fc.nat(100_000)),
  load: fraction,
});

describe('the ranking', () => {
  it('has unverified agents last, whatever they say of themselves', () => {
    const loud = { ...known, id: 'agt_0', isVerified: false, reputation: 1000, priceMicro: 0n };
    expect(order(loud, { ...known, coverage: 0.1, reputation: 0, priceMicro: 10n * usual, load: 1 })).toEqual([
      'agt_a',
      'agt_0',
    ]);
  });

  it('has ties in the order of ids', () => {
    const ids = ['agt_c', 'agt_a', 'agt_b'];
    expect(order(...ids.map((id) => ({ ...known, id })))).toEqual(ids.toSorted());
  });

  it('has a new agent that copies every word, is free, quick and idle behind one with a record that matches half as well', () => {
    const copy = { ...known, id: 'agt_0', reputation: NO_RECORD, priceMicro: 0n };
    const worst = { priceMicro: 10n ** 12n, responseMs: null, load: 1 };
    expect(order(copy, { ...known, ...worst, reputation: 710, coverage: 0.5 })).toEqual(['agt_a', 'agt_0']);
    expect(order(copy, { ...known, ...worst, reputation: 600 })).toEqual(['agt_a', 'agt_0']);
  });

  it('gains nothing but its share by the lowest price', () => {
    const undercut = { ...known, id: 'agt_0', priceMicro: 1n, coverage: 0.8 };
    expect(order(undercut, known)).toEqual(['agt_a', 'agt_0']);
    expect(matchScore({ ...known, priceMicro: 1n }, usual).score - matchScore(known, usual).score).toBeLessThan(0.05);
  });

  it('is a total order: the same whatever the order of the candidates', () => {
    fc.assert(
      fc.property(fc.uniqueArray(candidates, { selector: ({ id }) => id }), (list) => {
        expect(order(...list.toReversed())).toEqual(order(...list));
      }),
    );
  });

  it('never puts an agent lower for a better record', () => {
    fc.assert(
      fc.property(candidates, fc.integer({ min: 0, max: 1000 }), (candidate, reputation) => {
        const better = { ...candidate, reputation: Math.max(candidate.reputation, reputation) };
        expect(matchScore(better, usual).score).toBeGreaterThanOrEqual(matchScore(candidate, usual).score);
      }),
    );
  });
});
