import { expect, test } from 'vitest';
import { readLogRanges, searchLogRanges } from './log-ranges.ts';

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

test.each([2000n, 500n, 10n, 1n])(
  'a search goes from the newest block back and ends where it finds, with an RPC node that takes %s blocks a query',
  async (most) => {
    const asked: bigint[] = [];
    const search = (place: bigint) => async (start: bigint, end: bigint) => {
      if (end - start + 1n > most) throw new Error('query exceeds the limit of blocks');
      for (let block = end; block >= start; block--) asked.push(block);
      return start <= place && place <= end ? 'found' : undefined;
    };
    expect(await searchLogRanges(7n, 4_321n, search(1_000n))).toBe('found');
    expect(asked).toEqual(Array.from(asked, (_, index) => 4_321n - BigInt(index)));
    expect(asked.at(-1)).toBeGreaterThan(1_000n - most);
    asked.length = 0;
    expect(await searchLogRanges(7n, 4_321n, search(0n))).toBeUndefined();
    expect([asked.length, asked.at(-1)]).toEqual([4_315, 7n]);
  },
);

test('nothing is read of an empty range', async () => {
  expect(await rangesRead(8n, 7n, 2000n)).toEqual([]);
});

test('a block that cannot be read throws the error of the RPC node', async () => {
  await expect(rangesRead(1n, 3n, 0n)).rejects.toThrow('exceeds the limit');
  const away = async () => Promise.reject(new Error('exceeds the limit'));
  await expect(searchLogRanges(1n, 3n, away)).rejects.toThrow('exceeds the limit');
});
