import { usageUnits } from '@agent-network/contracts/invocations/usage';
import { formatUsdc, MAX_MICRO, parseUsdc } from '@agent-network/contracts/money';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shownCost } from '../finish/end-invocations.ts';
import { costOf } from '../invocation.ts';
import { priceOf } from '../pricing/price.ts';
import {
  costByUsage,
  isHigher,
  mostByUsage,
  ratedMicro,
  type UsageClaim,
  type UsageTerms,
  usageOfCall,
  usageOfShown,
} from './rate-usage.ts';

const digits = (length: number) => fc.stringMatching(new RegExp(`^[0-9]{1,${length}}$`));
const plainInt = (length: number) => digits(length).map((text) => String(BigInt(text)));
const decimal = (whole: number, fraction: number) =>
  fc.tuple(plainInt(whole), fc.option(digits(fraction))).map(([a, b]) => (b === null ? a : `${a}.${b}`));
const unit = fc.constantFrom<string>(...usageUnits, 'x-row');
const micro = fc.bigInt({ min: 0n, max: MAX_MICRO });

const terms: fc.Arbitrary<UsageTerms> = fc.record({
  least: micro.map(formatUsdc),
  maximum: micro.map(formatUsdc),
  prices: fc.uniqueArray(fc.record({ unit, price: decimal(6, 12) }), {
    selector: (each) => each.unit,
    minLength: 1,
    maxLength: 16,
  }),
});
const units = fc.uniqueArray(fc.record({ unit, quantity: decimal(6, 6) }), {
  selector: (each) => each.unit,
  maxLength: 16,
});
const claim: fc.Arbitrary<UsageClaim | null> = fc.option(
  fc.record({
    units,
    reasoningTokens: fc.nat(1_000_000),
    model: fc.constant(null),
    source: fc.constantFrom('agent' as const, 'upstream' as const),
  }),
);
const measured = fc.record({
  durationMs: fc.nat(100_000_000),
  inputBytes: fc.nat(10_000_000),
  resultBytes: fc.nat(10_000_000),
});

/** Exact product of two decimals, in units of 10^-18 USDC. */
const scaled = (text: string, decimals: number) => {
  const [whole = '', fraction = ''] = text.split('.');
  return BigInt(whole) * 10n ** BigInt(decimals) + BigInt(fraction.padEnd(decimals, '0') || '0');
};

describe('the cost of a call that is paid by usage', () => {
  it('is never above its maximum, nor that above what is held, whatever is claimed', () => {
    fc.assert(
      fc.property(terms, claim, measured, fc.option(micro), (agreed, told, sizes, claimedMicro) => {
        const { prices, maximum } = agreed;
        const rate = { perRequestMicro: parseUsdc(agreed.least), takesHints: false, sizeSteps: null, perUnit: null };
        const { totalMicro: hold } = priceOf({ ...rate, perUsage: { prices, maximum } }, { task: 't', input: {} });
        const usage = usageOfCall(agreed, told, sizes);
        const outcome = { kind: 'completed', result: null, claimedMicro } as const;
        const cost = costOf(outcome, { priceMicro: hold, usageTerms: agreed }, usage);
        expect(cost).toBeLessThanOrEqual(mostByUsage(agreed));
        expect(mostByUsage(agreed)).toBeLessThanOrEqual(hold);
        expect(cost + (hold - cost)).toBe(hold);
        if (claimedMicro === null) expect(cost).toBeGreaterThanOrEqual(parseUsdc(agreed.least));
        else expect(cost).toBeLessThanOrEqual(claimedMicro);
      }),
    );
  });

  it('that a payer held less for is never above that', () => {
    fc.assert(
      fc.property(terms, units, micro, (agreed, used, priceMicro) => {
        const usage = {
          units: used,
          durationMs: 0,
          measured: { inputBytes: 0, resultBytes: 0 },
          source: 'agent',
        } as const;
        const outcome = { kind: 'completed', result: null, claimedMicro: null } as const;
        expect(costOf(outcome, { priceMicro, usageTerms: agreed }, usage)).toBeLessThanOrEqual(priceMicro);
      }),
    );
  });

  it('is the exact sum of exact products, rounded down by less than a micro-USDC', () => {
    fc.assert(
      fc.property(terms, units, ({ prices }, used) => {
        const exact = used.reduce((sum, { unit: name, quantity }) => {
          const price = prices.find((each) => each.unit === name)?.price;
          return price === undefined ? sum : sum + scaled(price, 12) * scaled(quantity, 6);
        }, 0n);
        const rated = ratedMicro(prices, used) * 10n ** 12n;
        expect(rated).toBeLessThanOrEqual(exact);
        expect(exact - rated).toBeLessThan(10n ** 12n);
      }),
    );
  });

  it('does not depend on the order of units, and grows with each of them', () => {
    fc.assert(
      fc.property(terms, units, ({ prices }, used) => {
        expect(ratedMicro(prices, used.toReversed())).toBe(ratedMicro(prices, used));
        expect(ratedMicro(prices, used.slice(1))).toBeLessThanOrEqual(ratedMicro(prices, used));
      }),
    );
  });

  it('of an early end is within the maximum, and within the share of it', () => {
    fc.assert(
      fc.property(
        terms,
        fc.nat(10_000_000),
        measured,
        fc.integer({ min: 0, max: 100 }),
        (agreed, bytes, sizes, share) => {
          const { units: shown } = usageOfShown(agreed, bytes, sizes);
          const cost = shownCost(costByUsage(agreed, shown), share);
          expect(cost).toBeLessThanOrEqual(mostByUsage(agreed));
          expect(cost).toBeLessThanOrEqual(shownCost(mostByUsage(agreed), share));
        },
      ),
    );
  });

  const agreed: UsageTerms = {
    least: '0.001',
    maximum: '0.01',
    prices: [
      { unit: 'input_token', price: '0.00000015' },
      { unit: 'output_token', price: '0.0000006' },
    ],
  };
  it.each<[string, number, number, bigint]>([
    ['nothing', 0, 0, 1000n],
    ['less than the least price', 1200, 310, 1000n],
    ['more than it', 12_000, 3_100, 3660n],
    ['a part of a micro-USDC, rounded down', 12_001, 3_100, 3660n],
    ['more than the maximum', 1_000_000, 1_000_000, 10_000n],
  ])('for %s', (_what, input, output, cost) => {
    const used = [
      { unit: 'input_token', quantity: String(input) },
      { unit: 'output_token', quantity: String(output) },
      { unit: 'page', quantity: '1000' },
    ];
    expect(costByUsage(agreed, used)).toBe(cost);
  });
});

describe('the usage of a call', () => {
  const sizes = { durationMs: 5321, inputBytes: 100, resultBytes: 50 };
  const bySecond: UsageTerms = { least: '0', maximum: '1', prices: [{ unit: 'second', price: '0.01' }] };
  const told: UsageClaim = {
    ...{ units: [{ unit: 'second', quantity: '2' }], reasoningTokens: 0 },
    ...{ model: 'm', source: 'agent' },
  };

  it('of an agent that tells none and is not paid by it is unknown', () =>
    expect(usageOfCall(null, null, sizes)).toBeNull());

  it('is measured by the node where a unit has a price and nobody tells it', () =>
    expect(usageOfCall(bySecond, null, sizes)).toEqual({
      ...{ units: [{ unit: 'second', quantity: '5.321' }], durationMs: 5321, source: 'node', rated: '0.05321' },
      measured: { inputBytes: 100, resultBytes: 50 },
    }));

  it('is as told where it is told', () =>
    expect(usageOfCall(bySecond, told, sizes)).toMatchObject({ units: told.units, source: 'agent', rated: '0.02' }));

  it('without prices is told and not rated', () =>
    expect(usageOfCall(null, told, sizes)).toEqual({
      ...{ units: told.units, model: 'm', durationMs: 5321, source: 'agent' },
      measured: { inputBytes: 100, resultBytes: 50 },
    }));

  it('counts reasoning within the output unless it has a price of its own', () => {
    const thought = { ...told, units: [{ unit: 'output_token', quantity: '100' }], reasoningTokens: 60 };
    const byOutput = { ...bySecond, prices: [{ unit: 'output_token', price: '0.001' }] };
    const apart = { ...byOutput, prices: [...byOutput.prices, { unit: 'reasoning_token', price: '0.0001' }] };
    expect(usageOfCall(byOutput, thought, sizes)).toMatchObject({ units: thought.units, rated: '0.10' });
    expect(usageOfCall(apart, thought, sizes)).toMatchObject({
      units: [
        { unit: 'output_token', quantity: '40' },
        { unit: 'reasoning_token', quantity: '60' },
      ],
      rated: '0.046',
    });
  });

  it('of an early end is what was shown, four bytes for a token', () =>
    expect(usageOfShown({ ...bySecond, prices: [{ unit: 'output_token', price: '0.01' }] }, 403, sizes)).toMatchObject({
      units: [{ unit: 'output_token', quantity: '100' }],
      source: 'node',
      rated: '1.00',
    }));
});

it('prices of units are compared to the last decimal', () => {
  expect(isHigher('0.000000000002', '0.000000000001')).toBe(true);
  expect(isHigher('0.10', '0.1')).toBe(false);
  expect(isHigher('2', '10')).toBe(false);
});
