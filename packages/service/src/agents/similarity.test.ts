import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { similarity } from './similarity.ts';

describe('similarity', () => {
  const wanted = { capabilities: ['a', 'b'], perRequestMicro: 50_000n, reputation: 500 };

  it('of a twin with the best reputation is 1, of a stranger next to nothing', () => {
    expect(similarity(wanted, { ...wanted, reputation: 1000 })).toBe(1);
    expect(similarity(wanted, { capabilities: ['z'], perRequestMicro: 10n ** 12n, reputation: 0 })).toBe(0);
  });

  it('falls with fewer shared capabilities, a price further away either way, and less reputation', () => {
    const twin = similarity(wanted, wanted);
    expect(similarity(wanted, { ...wanted, capabilities: ['a'] })).toBeLessThan(twin);
    expect(similarity(wanted, { ...wanted, capabilities: ['a', 'b', 'c'] })).toBeLessThan(twin);
    expect(similarity(wanted, { ...wanted, perRequestMicro: 100_000n })).toBeLessThan(twin);
    expect(similarity(wanted, { ...wanted, perRequestMicro: 25_000n })).toBeLessThan(twin);
    expect(similarity(wanted, { ...wanted, reputation: 0 })).toBeLessThan(twin);
  });

  it('of free agents does not divide by zero, and stays between 0 and 1', () => {
    expect(similarity({ ...wanted, perRequestMicro: 0n }, { ...wanted, perRequestMicro: 0n, reputation: 1000 })).toBe(
      1,
    );
    const agent = fc.record({
      capabilities: fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd')),
      perRequestMicro: fc.bigInt(0n, 10n ** 18n),
      reputation: fc.integer({ min: 0, max: 1000 }),
    });
    fc.assert(
      fc.property(agent, agent, (one, two) => {
        const value = similarity(one, two);
        expect(value >= 0 && value <= 1).toBe(true);
      }),
    );
  });
});
