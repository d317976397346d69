import fc from 'fast-check';
import { expect, it } from 'vitest';
import { firstFees, MAX_FEE_PER_GAS, raisedFees } from './fees.ts';

const baseFee = fc.bigInt(0n, 100_000_000_000n);

it('the first offer bears a base fee twice as high, and is never above the maximum', () => {
  fc.assert(
    fc.property(baseFee, (base) => {
      const { maxFeePerGas, maxPriorityFeePerGas } = firstFees(base);
      expect(maxFeePerGas <= MAX_FEE_PER_GAS).toBe(true);
      expect(maxPriorityFeePerGas <= maxFeePerGas).toBe(true);
      if (maxFeePerGas < MAX_FEE_PER_GAS) expect(maxFeePerGas).toBe(base * 2n + maxPriorityFeePerGas);
    }),
  );
});

it('each replacement offers at least 12.5 % more of both fees, follows the base fee, and stops at the maximum', () => {
  fc.assert(
    fc.property(baseFee, fc.array(baseFee, { minLength: 1, maxLength: 200 }), (first, laterBases) => {
      let fees = firstFees(first);
      for (const base of laterBases) {
        const next = raisedFees(fees, base);
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
