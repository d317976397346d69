import fc from 'fast-check';
import { expect, it } from 'vitest';
import { feeBoundsOf, firstFees, raisedFees } from './chain-fees.ts';

const bounds = feeBoundsOf(8453);
const MAX_FEE_PER_GAS = bounds.max;
const baseFee = fc.bigInt(0n, 100_000_000_000n);

it('the first offer covers twice the base fee, and never exceeds the maximum', () => {
  fc.assert(
    fc.property(baseFee, (base) => {
      const { maxFeePerGas, maxPriorityFeePerGas } = firstFees(base, bounds);
      expect(maxFeePerGas <= MAX_FEE_PER_GAS).toBe(true);
      expect(maxPriorityFeePerGas <= maxFeePerGas).toBe(true);
      if (maxFeePerGas < MAX_FEE_PER_GAS) expect(maxFeePerGas).toBe(base * 2n + maxPriorityFeePerGas);
    }),
  );
});

it('each replacement offers at least 12.5 % more of both fees, follows the base fee, and stops at the maximum', () => {
  fc.assert(
    fc.property(baseFee, fc.array(baseFee, { minLength: 1, maxLength: 200 }), (first, laterBases) => {
      let fees = firstFees(first, bounds);
      for (const base of laterBases) {
        const next = raisedFees(fees, base, bounds);
        if (next === null) {
          expect(fees.maxFeePerGas * 9n + 8n > MAX_FEE_PER_GAS * 8n).toBe(true);
          return;
        }
        expect(next.maxFeePerGas * 8n >= fees.maxFeePerGas * 9n).toBe(true);
        expect(next.maxPriorityFeePerGas * 8n >= fees.maxPriorityFeePerGas * 9n).toBe(true);
        expect(next.maxPriorityFeePerGas <= next.maxFeePerGas).toBe(true);
        expect(next.maxFeePerGas <= MAX_FEE_PER_GAS).toBe(true);
        if (next.maxFeePerGas < MAX_FEE_PER_GAS)
          expect(next.maxFeePerGas >= base * 2n + next.maxPriorityFeePerGas).toBe(true);
        fees = next;
      }
    }),
  );
});

const GWEI = 1_000_000_000n;
it.each([
  [8453, 1_000_000n, 20n * GWEI],
  [421_614, 1_000_000n, 20n * GWEI],
  [137, 30n * GWEI, 2000n * GWEI],
  [80_002, 30n * GWEI, 2000n * GWEI],
  [43_114, 1_000_000n, 500n * GWEI],
])('chain %i has the tip that its validators take, and room for its base fees', (chainId, tip, max) => {
  expect(feeBoundsOf(chainId)).toEqual({ tip, max });
});

it('Polygon: a payment is offered above the tip that validators ask for, at its usual base fees', () => {
  const polygon = feeBoundsOf(137);
  const { maxFeePerGas, maxPriorityFeePerGas } = firstFees(30n * GWEI, polygon);
  expect(maxPriorityFeePerGas).toBeGreaterThanOrEqual(25n * GWEI);
  expect(maxFeePerGas).toBeGreaterThanOrEqual(55n * GWEI);
  expect(raisedFees({ maxFeePerGas, maxPriorityFeePerGas }, 60n * GWEI, polygon)).not.toBeNull();
});
