import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readAgainFrom } from './read-again.ts';

/** Depths at which each block up to the last is read by reads that end at these blocks. */
function depthsOf(ends: readonly bigint[]): Map<bigint, bigint[]> {
  const depths = new Map<bigint, bigint[]>();
  for (const [index, to] of ends.entries()) {
    if (index === 0) continue;
    for (let block = readAgainFrom(ends[index - 1] as bigint, to); block <= to; block++)
      depths.set(block, [...(depths.get(block) ?? []), to - block]);
  }
  return depths;
}

it('every block is read with those that follow it, then 64 and 1,024 blocks deep, whatever steps the reads make', () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 5000n), fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 150 }), (begin, steps) => {
      const ends = [begin];
      for (const step of steps) ends.push((ends.at(-1) ?? begin) + BigInt(step));
      const [last, depths] = [ends.at(-1) as bigint, depthsOf(ends)];
      for (let block = begin + 1n; block <= last; block++) {
        const read = depths.get(block) ?? [];
        expect(read.length).toBeGreaterThan(0);
        for (const length of [64n, 1024n])
          if (last - block >= 2n * length + 40n)
            expect([block, length, read.some((depth) => depth >= length && depth < 3n * length)]).toEqual([
              block,
              length,
              true,
            ]);
      }
    }),
    { numRuns: 30 },
  );
});

it('a read goes back twelve blocks, and never before the first', () => {
  expect(readAgainFrom(70n, 71n)).toBe(59n);
  expect(readAgainFrom(3n, 4n)).toBe(0n);
});
