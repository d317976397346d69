import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  amountStep,
  atLeastReputation,
  type Bits,
  firstOfStep,
  headOf,
  lastOfStep,
  upToPrice,
} from './search-levels.ts';

const amount = fc.oneof(fc.bigInt(0n, 3000n), fc.bigInt(0n, 2n ** 63n - 1n));

/** The sets that a number with these digits is in, the last one first. */
const setsOf = (mark: string, digits: readonly number[]) =>
  new Set(
    digits.flatMap((value, digit) => Array.from({ length: value }, (_, level) => `${mark}${digit}:${level + 1}`)),
  );
const reputationSets = (value: number) =>
  setsOf('!r', [value % 5, Math.floor((value % 25) / 5), Math.floor(value / 25)]);
const priceSets = (micro: bigint) => {
  const step = amountStep(micro);
  return setsOf('!p', [step % 10, Math.floor(step / 10) % 10, Math.floor(step / 100) % 10, Math.floor(step / 1000)]);
};

function holds(bits: Bits | null, sets: ReadonlySet<string>): boolean {
  if (bits === null) return true;
  if ('all' in bits) return bits.all.every((each) => holds(each, sets));
  if ('any' in bits) return bits.any.some((each) => holds(each, sets));
  if ('not' in bits) return !holds(bits.not, sets);
  return 'term' in bits && sets.has(bits.term);
}

test('the levels of a reputation tell whether it reaches a limit', () => {
  for (let least = 0; least <= 1000; least += 7)
    for (let value = 0; value <= 1000; value += 3)
      expect(holds(atLeastReputation(least), reputationSets(value))).toBe(value >= least);
});

test('the levels of a price tell whether it is within the step that a limit ends in', () => {
  fc.assert(
    fc.property(amount, amount, (max, micro) => {
      expect(holds(upToPrice(max), priceSets(micro))).toBe(micro <= lastOfStep(max));
      expect(lastOfStep(max)).toBeGreaterThanOrEqual(max);
      expect(firstOfStep(amountStep(max))).toBeLessThanOrEqual(max);
    }),
    { numRuns: 3000 },
  );
});

test('a limit of up to three digits is the end of its step', () => {
  for (const max of [2n, 999n, 1000n, 1001n * 1000n - 1000n, 50_000n, 123_000n, 500_000n, 1_000_000n])
    expect(lastOfStep(max)).toBe(max);
});

test('a head holds everyone up to its bound, the value asked for included, and nobody else', () => {
  const order = fc.constantFrom('asc' as const, 'desc' as const);
  fc.assert(
    fc.property(order, amount, amount, (direction, wanted, micro) => {
      const head = headOf({ keys: [{ field: 'rates.perRequest', order: direction }], byId: 'asc' }, Number(wanted));
      const isIn = (value: bigint) =>
        head === null || (head.compares === '<' ? value < head.bound : value >= head.bound);
      expect(holds(head?.bits ?? null, priceSets(micro))).toBe(isIn(micro));
      if (wanted < 2n ** 53n) expect(isIn(wanted)).toBe(true);
    }),
    { numRuns: 3000 },
  );
  for (let value = 0; value <= 1000; value++) {
    const head = headOf({ keys: [{ field: 'reputation', order: 'desc' }], byId: 'asc' }, 777);
    expect(holds(head?.bits ?? null, reputationSets(value))).toBe(BigInt(value) >= (head?.bound ?? 0n));
  }
});
