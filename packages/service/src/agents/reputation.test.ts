import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Evidence, reputationOf, similarity } from './reputation.ts';

const evidence = (changes: Partial<Evidence> = {}): Evidence => ({
  completed: 0n,
  failed: 0n,
  probesPassed: 0n,
  probes: 0n,
  responseMs: null,
  ...changes,
});

const anyEvidence = fc
  .record({
    completed: fc.bigInt(0n, 10n ** 9n),
    failed: fc.bigInt(0n, 10n ** 9n),
    passed: fc.bigInt(0n, 10n ** 6n),
    missed: fc.bigInt(0n, 10n ** 6n),
    responseMs: fc.option(fc.double({ min: 0, max: 1e6, noNaN: true })),
  })
  .map(({ completed, failed, passed, missed, responseMs }) => ({
    completed,
    failed,
    probesPassed: passed,
    probes: passed + missed,
    responseMs,
  }));

describe('a reputation', () => {
  it('is a whole number from 0 to 1000, whatever the evidence', () => {
    fc.assert(
      fc.property(anyEvidence, (each) => {
        const reputation = reputationOf(each);
        expect(Number.isInteger(reputation)).toBe(true);
        expect(reputation).toBeGreaterThanOrEqual(0);
        expect(reputation).toBeLessThanOrEqual(1000);
      }),
    );
  });

  it('never falls for a success and never rises for a failure', () => {
    fc.assert(
      fc.property(anyEvidence, (each) => {
        expect(reputationOf({ ...each, completed: each.completed + 1n })).toBeGreaterThanOrEqual(reputationOf(each));
        expect(reputationOf({ ...each, failed: each.failed + 1n })).toBeLessThanOrEqual(reputationOf(each));
      }),
    );
  });

  it('is cautious: a hundred of a hundred counts for more than one of one', () => {
    expect(reputationOf(evidence({ completed: 100n }))).toBeGreaterThan(
      reputationOf(evidence({ completed: 1n })) + 200,
    );
  });

  it('gains by uptime and speed, as lesser parts', () => {
    const calls = evidence({ completed: 1000n });
    const withUptime = reputationOf({ ...calls, probes: 10n, probesPassed: 10n });
    expect(withUptime - reputationOf(calls)).toBe(120);
    expect(reputationOf({ ...calls, responseMs: 0 }) - reputationOf(calls)).toBe(80);
    expect(reputationOf({ ...calls, responseMs: 60_000 })).toBe(reputationOf(calls));
  });
});

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
