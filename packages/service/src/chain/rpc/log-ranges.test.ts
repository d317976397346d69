import { expect, test } from 'vitest';
import { readLogRanges } from './log-ranges.ts';

/** Ranges that an RPC node answered that takes at most so many blocks a query. */
async function rangesRead(from: bigint, to: bigint, most: bigint): Promise<[bigint, bigint][]> {
  const ranges: [bigint, bigint][] = [];
  await readLogRanges(from, to, async (start, end) => {
    if (end - start + 1n > most) throw new Error('query exceeds the limit of blocks');
    ranges.push([start, end]);
  });
  return ranges;
}

test.each([2000n, 500n, 10n, 1n])(
  'every block is read once by an RPC node that takes %s blocks a query',
  async (most) => {
    const ranges = await rangesRead(7n, 4_321n, most);
    expect(ranges[0]?.[0]).toBe(7n);
    expect(ranges.at(-1)?.[1]).toBe(4_321n);
    for (const [index, [start]] of ranges.entries())
      if (index > 0) expect(start).toBe((ranges[index - 1]?.[1] ?? 0n) + 1n);
  },
);

test('nothing is read of an empty range', async () => {
  expect(await rangesRead(8n, 7n, 2000n)).toEqual([]);
});

test('a block that cannot be read throws the error of the RPC node', async () => {
  await expect(rangesRead(1n, 3n, 0n)).rejects.toThrow('exceeds the limit');
});
