import { priceRange } from '@agent-network/contracts/agents/price-text';
import { formatUsdc, MAX_MICRO, usdcPattern } from '@agent-network/contracts/money';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimatedTime, multiplierOf as multiplier, priceOf, rateWithin } from './price.ts';

/** An input that makes task and input together this many bytes of JSON. */
const inputOf = (bytes: number, extra: Record<string, unknown> = {}) => {
  const frame = Buffer.byteLength(JSON.stringify({ ...extra, text: '' }));
  return { ...extra, text: 'x'.repeat(bytes - frame - 1) };
};
const workOf = (input: Record<string, unknown>, task = 't') => ({ task, input });
const sizeSteps = [
  { aboveBytes: 16_384, multiplier: '1.25' },
  { aboveBytes: 65_536, multiplier: '1.5' },
  { aboveBytes: 262_144, multiplier: '2' },
];
const rateOf = (perRequestMicro: bigint, takesHints = true) => ({
  perRequestMicro,
  takesHints,
  perUnit: null,
  perUsage: null,
  sizeSteps,
});
const flat = { takesHints: false, perUnit: null, perUsage: null, sizeSteps: null };
const multiplierOf = (input: Record<string, unknown>) => priceOf(rateOf(1_000_000n), workOf(input)).multiplier / 100n;

describe('the price', () => {
  it.each([
    [{}, 100n],
    [{ complexity: 'low' }, 80n],
    [{ complexity: 'medium' }, 100n],
    [{ complexity: 'high' }, 150n],
    [{ complexity: 'HIGH' }, 100n],
    [{ complexity: 1.5 }, 100n],
    [{ complexity: 'constructor' }, 100n],
    [{ complexity: '__proto__' }, 100n],
    [{ complexity: 'toString' }, 100n],
  ])('of an agent that takes hints follows that of %j', (input, hundredths) =>
    expect(multiplierOf(input)).toBe(hundredths),
  );

  it.each([
    [16_384, 100n],
    [16_385, 125n],
    [65_536, 125n],
    [65_537, 150n],
    [262_144, 150n],
    [262_145, 200n],
  ])('of %i bytes is multiplied by %s hundredths', (bytes, hundredths) => {
    expect(multiplierOf(inputOf(bytes))).toBe(hundredths);
    expect(multiplierOf(inputOf(bytes, { complexity: 'low' }))).toBe((80n * hundredths) / 100n);
  });

  it.each([['low'], ['medium'], ['high']])(
    'of an agent that takes no hints is the same with the hint %s',
    (complexity) => expect(priceOf(rateOf(50_000n, false), workOf({ complexity })).totalMicro).toBe(50_000n),
  );

  it('counts all that the agent is sent: what is moved to context or metadata is not cheaper', () => {
    const text = 'x'.repeat(20_000);
    for (const work of [
      { task: text, input: {} },
      { task: 't', input: { text } },
      { task: 't', input: {}, context: text },
      { task: 't', input: {}, metadata: { text } },
    ]) {
      expect(multiplier({ takesHints: false, sizeSteps }, work)).toBe(12_500n);
      expect(priceOf({ ...flat, perRequestMicro: 7n }, work)).toMatchObject({ totalMicro: 7n, size: null });
    }
  });

  it('of an agent that states no price by size is the same for all sizes', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 15n), fc.nat(600_000), (perRequestMicro, bytes) => {
        const work = workOf({ text: 'x'.repeat(bytes), complexity: 'high' });
        expect(priceOf({ ...flat, perRequestMicro }, work).totalMicro).toBe(perRequestMicro);
      }),
      { numRuns: 30 },
    );
  });

  it('of a larger call is never lower', () => {
    const bytes = fc.nat(300_000);
    fc.assert(
      fc.property(bytes, bytes, (a, b) => {
        const [less, more] = [Math.min(a, b), Math.max(a, b)].map(
          (size) => priceOf(rateOf(99_999n), workOf(inputOf(size + 20))).totalMicro,
        ) as [bigint, bigint];
        expect(more).toBeGreaterThanOrEqual(less);
      }),
      { numRuns: 30 },
    );
  });

  it('is within an amount at this rate, and at no higher one, of an agent that takes hints if they make it cheaper', () => {
    const input = fc.constantFrom<Record<string, unknown>>(
      {},
      { complexity: 'low' },
      { complexity: 'high' },
      inputOf(20_000),
    );
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 15n), input, (maxMicro, given) => {
        const rate = rateWithin(maxMicro, workOf(given));
        const takesHints = given.complexity === 'low';
        const at = (perRequestMicro: bigint, takes: boolean) => ({ ...flat, perRequestMicro, takesHints: takes });
        expect(priceOf(at(rate, takesHints), workOf(given)).totalMicro).toBeLessThanOrEqual(maxMicro);
        for (const takes of [true, false])
          for (const dearer of [at(rate + 1n, takes), rateOf(rate + 1n, takes)])
            expect(priceOf(dearer, workOf(given)).totalMicro).toBeGreaterThan(maxMicro);
      }),
    );
  });

  it('counts bytes rather than characters', () =>
    expect(priceOf(rateOf(100n), workOf({}, 'é'.repeat(8_192))).multiplier).toBe(12_500n));

  it('rounds up, so that nothing which costs becomes free, and what is free stays so', () => {
    expect(priceOf(rateOf(1n), workOf({ complexity: 'low' })).totalMicro).toBe(1n);
    expect(priceOf(rateOf(3n), workOf({ complexity: 'high' })).totalMicro).toBe(5n);
    expect(priceOf(rateOf(0n), workOf({ complexity: 'high' })).totalMicro).toBe(0n);
  });

  it('of the dearest agent is an amount that can be written, and so fits what the database holds', () => {
    const dearest = { ...rateOf(MAX_MICRO), sizeSteps: [{ aboveBytes: 1024, multiplier: '5' }] };
    const { totalMicro } = priceOf(dearest, workOf(inputOf(300_000, { complexity: 'high' })));
    expect(formatUsdc(totalMicro)).toMatch(usdcPattern);
    expect(totalMicro).toBe(MAX_MICRO);
    const metadata = { priceHints: true, sizeSteps: dearest.sizeSteps };
    expect(priceRange({ perRequest: formatUsdc(MAX_MICRO), metadata }).max).toBe(formatUsdc(MAX_MICRO));
  });
});

describe('a price by units', () => {
  const perUnit = { price: '0.02', unit: 'page', count: '/pages', measure: 'number' as const, maximum: '1.5' };
  const rate = { perRequestMicro: 50_000n, takesHints: false, sizeSteps, perUnit, perUsage: null };
  const totalOf = (input: Record<string, unknown>) => priceOf(rate, workOf(input)).totalMicro;

  it.each<[unknown, bigint, bigint]>([
    [0, 0n, 50_000n],
    [2, 2n, 50_000n],
    [3, 3n, 60_000n],
    [2.1, 3n, 60_000n],
    [75, 75n, 1_500_000n],
    [76, 76n, 1_500_000n],
    [1e308, 1_000_000_000_000n, 1_500_000n],
  ])('of %j pages counts %s of them and costs %s', (pages, count, total) => {
    const price = priceOf(rate, workOf({ pages }));
    expect([price.units?.count, price.totalMicro]).toEqual([count, total]);
  });

  const amount = fc.bigInt(0n, 10n ** 12n);
  const rates = fc.record({ least: amount, each: amount, most: amount });
  const by = ({ least, each, most }: { least: bigint; each: bigint; most: bigint }) => ({
    perRequestMicro: least,
    ...flat,
    perUnit: { ...perUnit, price: formatUsdc(each), maximum: formatUsdc(most) },
  });

  it('is exact between the price per request and the maximum, and grows with the units', () => {
    fc.assert(
      fc.property(rates, fc.nat(10_000), fc.nat(10_000), (given, units, more) => {
        const { least, each, most } = given;
        const total = priceOf(by(given), workOf({ pages: units })).totalMicro;
        expect(total).toBeGreaterThanOrEqual(least);
        expect(total).toBeLessThanOrEqual(most > least ? most : least);
        const exact = BigInt(units) * each;
        if (exact >= least && exact <= most) expect(total).toBe(exact);
        expect(priceOf(by(given), workOf({ pages: units + more })).totalMicro).toBeGreaterThanOrEqual(total);
      }),
    );
  });

  it('is never below what a search for cheap agents is told', () => {
    fc.assert(
      fc.property(rates, fc.nat(1000), (given, pages) => {
        const { totalMicro } = priceOf(by(given), workOf({ pages }));
        expect(given.least).toBeLessThanOrEqual(rateWithin(totalMicro, workOf({ pages })));
      }),
    );
  });

  it('has no effect of its own on the size step', () =>
    expect(totalOf({ pages: 1, text: 'x'.repeat(20_000) })).toBe(62_500n));
});

describe('the estimated time', () => {
  it.each([
    [null, '1-30s'],
    [0, '1-2s'],
    [10, '1-2s'],
    [2_000, '1-4s'],
    [10_000, '5-20s'],
  ])('after an average of %s ms is %s', (averageMs, text) =>
    expect(estimatedTime({ averageMs, declaredTime: null })).toBe(text),
  );

  it('is that which the owner declares until a call has completed', () => {
    expect(estimatedTime({ averageMs: null, declaredTime: '40-90s' })).toBe('40-90s');
    expect(estimatedTime({ averageMs: 2000, declaredTime: '40-90s' })).toBe('1-4s');
  });

  it('is always a range that goes up', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e9, noNaN: true }), (averageMs) => {
        const [, low, high] = /^(\d+)-(\d+)s$/.exec(estimatedTime({ averageMs, declaredTime: '9s' })) ?? [];
        expect(Number(high)).toBeGreaterThan(Number(low));
      }),
    );
  });
});
