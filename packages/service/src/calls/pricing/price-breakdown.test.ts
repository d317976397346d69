import { priceRange } from '@agent-network/contracts/agents/price-text';
import { formatUsdc, parseUsdc } from '@agent-network/contracts/money';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { priceOf, type Rate } from './price.ts';
import { breakdownOf, formatMultiplier } from './quote-invocation.ts';

it.each([
  [80n, '0.8x'],
  [100n, '1.0x'],
  [125n, '1.25x'],
  [150n, '1.5x'],
  [300n, '3.0x'],
])('%s hundredths read %s', (hundredths, text) => expect(formatMultiplier(hundredths)).toBe(text));

const unit = { price: '0.02', unit: 'page', count: '/pages', maximum: '1.50' };
const rates = fc.record({
  perRequestMicro: fc.bigInt(0n, 10n ** 12n),
  takesHints: fc.boolean(),
  sizeSteps: fc.constantFrom(null, [
    { aboveBytes: 1024, multiplier: '1.33' },
    { aboveBytes: 4096, multiplier: '3.7' },
  ]),
  perUnit: fc.constantFrom(null, unit),
  perUsage: fc.constant(null),
});
/** A price by usage goes with no other part of a price. */
const allRates: fc.Arbitrary<Rate> = fc.oneof(
  rates,
  rates.map(({ perRequestMicro }) => ({
    ...{ perRequestMicro, takesHints: false, sizeSteps: null, perUnit: null },
    perUsage: { prices: [{ unit: 'page', price: '0.01' }], maximum: '0.75' },
  })),
);
const works = fc.record({
  complexity: fc.constantFrom('low', 'medium', 'high', 'other'),
  pages: fc.nat(200),
  text: fc.nat(6000).map((length) => 'x'.repeat(length)),
});

it('the parts of a quote make its total', () => {
  fc.assert(
    fc.property(allRates, works, (rate, input) => {
      const { base_fee, complexity_multiplier, size, units, total } = breakdownOf(
        rate,
        priceOf(rate, { task: 't', input }),
      );
      const factor = (text = '1x') => BigInt(Math.round(Number(text.replace('x', '')) * 100));
      const product = parseUsdc(base_fee) * factor(complexity_multiplier) * factor(size?.multiplier);
      const least = (product + 9_999n) / 10_000n;
      const counted = units ? parseUsdc(units.amount) : 0n;
      const most = rate.perUsage && counted < 750_000n ? 750_000n : counted;
      expect(total).toBe(formatUsdc(most > least ? most : least));
    }),
  );
});

it('a price is within the range that the agent is offered for', () => {
  fc.assert(
    fc.property(allRates, works, (rate, input) => {
      const { takesHints: priceHints, perRequestMicro, sizeSteps, perUnit, perUsage } = rate;
      const metadata = {
        ...{ priceHints, sizeSteps: sizeSteps ?? undefined },
        ...{ perUnit: perUnit ?? undefined, perUsage: perUsage ?? undefined },
      };
      const { min, max } = priceRange({ perRequest: formatUsdc(perRequestMicro), metadata });
      const { totalMicro } = priceOf(rate, { task: 't', input });
      expect(totalMicro).toBeGreaterThanOrEqual(parseUsdc(min));
      expect(totalMicro).toBeLessThanOrEqual(parseUsdc(max));
    }),
  );
});
