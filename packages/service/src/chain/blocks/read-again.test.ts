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

/** Blocks that were not read twice: with those that follow, and again between one length and three of them deep. */
function readOnce(ends: readonly bigint[], length: bigint): bigint[] {
  const [begin, last, depths] = [ends[0] as bigint, ends.at(-1) as bigint, depthsOf(ends)];
  const missed: bigint[] = [];
  for (let block = begin + 1n; block <= last - 2n * length - 40n; block++) {
    const read = depths.get(block) ?? [];
    if (!read.some((depth) => depth <= 40n) || !read.some((depth) => depth >= length && depth < 3n * length))
      missed.push(block);
  }
  return missed;
}

it.each([64n, 1024n])(
  'every block is read when it is new, and again %i blocks deep, whatever steps the reads make',
  (length) => {
    const steps = fc.array(fc.bigInt(1n, 40n), { minLength: 150, maxLength: 200 });
    fc.assert(
      fc.property(fc.bigInt(0n, 5000n), steps, (begin, all) => {
        const ends = [begin];
        for (const step of all) ends.push((ends.at(-1) as bigint) + step);
        expect(readOnce(ends, length)).toEqual([]);
      }),
      { numRuns: 10 },
    );
  },
);

it('a read goes back twelve blocks, and never before the first', () => {
  expect(readAgainFrom(70n, 71n)).toBe(59n);
  expect(readAgainFrom(3n, 4n)).toBe(0n);
});
