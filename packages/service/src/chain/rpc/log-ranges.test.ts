import { HttpRequestError, LimitExceededRpcError, RpcRequestError, TimeoutError } from 'viem';
import { expect, test } from 'vitest';
import { readLogRanges, searchLogRanges } from './log-ranges.ts';
import { BehindError } from './rpc-errors.ts';

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

const url = 'http://127.0.0.1';
const http = (status?: number) => new HttpRequestError({ url, ...(status === undefined ? {} : { status }) });
const rpc = (code: number, message: string) => new RpcRequestError({ body: {}, url, error: { code, message } });
const limited = (message: string) => new LimitExceededRpcError(rpc(-32_005, message));

/** Queries that are made of an RPC node that answers each with this error; the error must be thrown in the end. */
async function queriesUntil(error: Error): Promise<{ read: number; searched: number }> {
  const asked = { read: 0, searched: 0 };
  const refuse = (kind: keyof typeof asked) => async () => {
    asked[kind] += 1;
    throw error;
  };
  await expect(readLogRanges(1n, 9_000n, refuse('read'))).rejects.toBe(error);
  await expect(searchLogRanges(1n, 9_000n, refuse('searched'))).rejects.toBe(error);
  return asked;
}

test.each([
  ['HTTP 429', http(429)],
  ['a rate limit of JSON-RPC', rpc(429, 'compute units exceeded')],
  ['a rate limit under the code of large queries', limited('project ID request rate exceeded')],
  ['an RPC node that is behind', new BehindError('only at 7')],
])('after %s no smaller range is asked for', async (_, error) => {
  expect(await queriesUntil(error)).toEqual({ read: 1, searched: 1 });
});

test.each([
  ['no connection', http()],
  ['HTTP 503', http(503)],
  ['no answer in time', new TimeoutError({ body: {}, url })],
])('after %s a search, which has few logs, asks for no smaller range', async (_, error) => {
  expect(await queriesUntil(error)).toEqual({ read: 6, searched: 1 });
});

test.each([
  ['HTTP 400', http(400)],
  ['JSON-RPC -32005', limited('query returned more than 10000 results')],
  ['JSON-RPC -32602', rpc(-32_602, 'block range is too large')],
])('a range that is refused with %s is made smaller', async (_, error) => {
  expect(await queriesUntil(error)).toEqual({ read: 6, searched: 6 });
});

test('a search begins no query after its time', async () => {
  const endMs = performance.now() + 5;
  let asked = 0;
  const slow = async () => {
    asked += 1;
    while (performance.now() <= endMs);
    return undefined;
  };
  await expect(searchLogRanges(1n, 9_000n, slow, endMs)).rejects.toThrow('in time');
  expect(asked).toBe(1);
});
