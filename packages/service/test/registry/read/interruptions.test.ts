import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createRegistryReader } from '../../../src/registry/read/read-registry.ts';
import type { Database } from '../../../src/store/database.ts';
import { newOwner, registryActions } from '../../support/registry-actions.ts';
import {
  type IndexContext,
  newIndex,
  type RegistryChain,
  startRegistryChain,
  type TestIndex,
} from '../../support/registry-world.ts';

let world: RegistryChain;
let index: TestIndex;
let registry: ReturnType<typeof registryActions>;
const owner = newOwner();
beforeAll(async () => {
  world = await startRegistryChain();
  index = await newIndex({ client: world.client });
  registry = registryActions(world.chain.rpcUrl);
  for (let made = 0; made < 12; made++) {
    await registry.register(owner, `https://a.example/${made}`);
    await world.mine(25);
  }
});
beforeEach(() => index.clear());
afterAll(async () => {
  await index.stop();
  await world.stop();
});

/** Another process, whose runs are never cut short. */
const newReader = (ctx: IndexContext) => createRegistryReader(ctx, 60_000);
const pointsOf = async ({ ctx }: TestIndex) =>
  (await ctx.db.query<{ block: bigint }>('', 'select block_number as block from registry_point order by 1')).map(
    ({ block }) => Number(block),
  );
/** A process that knows of no earlier blocks, and what it is to read. */
async function lastBlocks(blocks: number) {
  const head = BigInt(await world.headBlock());
  const startBlock = head > blocks ? head - BigInt(blocks) : 0n;
  return {
    ...{ head, startBlock },
    reader: newReader({ ...index.ctx, registry: { ...index.ctx.registry, startBlock } }),
    async freshRows() {
      const { tokens, logs } = await world.freshRows();
      return {
        tokens: tokens?.filter(({ registered_block }) => registered_block >= startBlock),
        logs: logs?.filter(({ block_number }) => block_number >= startBlock),
      };
    },
  };
}
const rangesAsked = () => {
  const ranges: [from: number, to: number][] = [];
  return {
    ranges,
    refusing: (most: number) =>
      world.proxy.rule('eth_getLogs', ({ params, forward, refuse }) => {
        const [{ fromBlock, toBlock }] = params as [{ fromBlock: string; toBlock: string }];
        ranges.push([Number(fromBlock), Number(toBlock)]);
        return Number(toBlock) - Number(fromBlock) >= most ? refuse(`range over ${most} blocks`) : forward();
      }),
  };
};

describe('a chain that limits what it tells at once', () => {
  it.each([
    [1, 40],
    [5, 150],
    [100, 1000],
  ])('%i blocks: is asked for less, and all is read', async (most, blocks) => {
    const { reader, head, startBlock, freshRows } = await lastBlocks(blocks);
    const { ranges, refusing } = rangesAsked();
    refusing(most);
    while ((await index.block()) !== head) await reader.read();
    world.proxy.rule('eth_getLogs', null);
    expect(await index.rows()).toEqual(await freshRows());
    const answered = ranges.filter(([from, to]) => to - from < most);
    // At the head, blocks before are read again.
    const told = answered.filter(([from], index) => answered.slice(0, index).every(([, to]) => to < from));
    const ends = [Number(startBlock) - 1, ...told.map(([, to]) => to)];
    expect(told.map(([from]) => from)).toEqual(ends.slice(0, -1).map((end) => end + 1));
    expect(ranges.length - answered.length).toBeLessThan(14 + told.length);
  });

  it('nothing at all: is asked again and again', async () => {
    const reader = newReader(index.ctx);
    rangesAsked().refusing(0);
    world.proxy.rule('eth_getBlockReceipts', ({ refuse }) => refuse('no such method'));
    await reader.read();
    expect(await index.rows()).toEqual({ logs: null, tokens: null });
    world.proxy.rule('eth_getLogs', null);
    world.proxy.rule('eth_getBlockReceipts', null);
    await reader.read();
    expect((await index.rows()).tokens).toHaveLength(12);
  });

  it('of a block with more logs than an answer of many blocks may have: is read whole', async () => {
    const { reader, head, freshRows } = await lastBlocks(30);
    const fullBlock = Number(head) - 3;
    let isFull = false;
    world.proxy.rule('eth_getLogs', async ({ params, forward }) => {
      const [{ fromBlock, toBlock }] = params as [{ fromBlock: string; toBlock: string }];
      const hasFullBlock = Number(fromBlock) <= fullBlock && Number(toBlock) >= fullBlock;
      isFull ||= hasFullBlock && fromBlock === toBlock;
      return (await forward()) + ' '.repeat(hasFullBlock ? 17 * 2 ** 20 : 0);
    });
    const readTo = async () => {
      await reader.read();
      return index.block();
    };
    expect(await readTo()).toBe(head);
    world.proxy.rule('eth_getLogs', null);
    expect(isFull).toBe(true);
    expect(await index.rows()).toEqual(await freshRows());
  });

  it('not even the logs of one block: is read from the receipts of its transactions', async () => {
    const { reader, head, freshRows } = await lastBlocks(30);
    rangesAsked().refusing(0);
    while ((await index.block()) !== head) await reader.read();
    world.proxy.rule('eth_getLogs', null);
    expect(await index.rows()).toEqual(await freshRows());
  });

  it('by the length of its answer: is asked for less', async () => {
    const { reader, head, freshRows } = await lastBlocks(60);
    let refused = 0;
    world.proxy.rule('eth_getLogs', async ({ params, forward }) => {
      const [{ fromBlock, toBlock }] = params as [{ fromBlock: string; toBlock: string }];
      if (Number(toBlock) - Number(fromBlock) < 40) return forward();
      refused += 1;
      return (await forward()) + ' '.repeat(17 * 2 ** 20);
    });
    while ((await index.block()) !== head) await reader.read();
    world.proxy.rule('eth_getLogs', null);
    expect(refused).toBeGreaterThan(0);
    expect(await index.rows()).toEqual(await freshRows());
  });
});

describe('a process that dies', () => {
  it('before its blocks are committed leaves nothing, and the next one reads them', async () => {
    const dying: Database = {
      ...index.ctx.db,
      transaction: (work, options) =>
        index.ctx.db.transaction(async (tx) => {
          await work(tx);
          throw new Error('died before the commit');
        }, options),
    };
    await newReader({ ...index.ctx, db: dying })
      .read()
      .catch(() => undefined);
    expect(await index.rows()).toEqual({ logs: null, tokens: null });
    expect(await index.block()).toBeNull();
    await newReader(index.ctx).read();
    expect(await index.rows()).toEqual(await world.freshRows());
  });

  it('after it went back before a reorg leaves what was there before', async () => {
    await newReader(index.ctx).read();
    await registry.setUri(owner, 0n, 'https://a.example/changed');
    await newReader(index.ctx).read();
    await world.replace(1);
    world.proxy.rule('eth_getLogs', () => null);
    await newReader(index.ctx).read();
    world.proxy.rule('eth_getLogs', null);
    const { tokens } = await index.rows();
    expect(tokens?.[0].uri).toBe('https://a.example/0');
    await newReader(index.ctx).read();
    expect(await index.rows()).toEqual(await world.freshRows());
  });
});

it('processes that read at the same time do not disturb each other', async () => {
  const other = await newIndex({ client: world.client, of: index });
  const countedLogs = async () => {
    const counts = await Promise.all([index, other].map(({ ctx }) => ctx.metrics.registryLogs.get()));
    return counts.flatMap(({ values }) => values).reduce((sum, { value }) => sum + value, 0);
  };
  const before = await countedLogs();
  const { refusing } = rangesAsked();
  refusing(20);
  const head = BigInt(await world.headBlock());
  const readers = [index, other, other].map(({ ctx }) => newReader(ctx));
  const readAll = async (reader: (typeof readers)[number]) => {
    while ((await index.block()) !== head) await reader.read();
  };
  await Promise.all(readers.map(readAll));
  world.proxy.rule('eth_getLogs', null);
  expect(await index.rows()).toEqual(await world.freshRows());
  expect((await countedLogs()) - before).toBe((await index.rows()).logs?.length);
  await world.replace(3);
  await Promise.all(readers.map((reader) => reader.read()));
  await readers[0]?.read();
  expect(await index.rows()).toEqual(await world.freshRows());
  expect(await index.block()).toBe(BigInt(await world.headBlock()));
  await other.stop();
});

describe('the points to go back to', () => {
  it('are the newest 256 blocks, and fewer before them; the first stays', async () => {
    await world.mine(3000);
    const reader = newReader(index.ctx);
    rangesAsked().refusing(150);
    const head = await world.headBlock();
    while ((await index.block()) !== BigInt(head)) await reader.read();
    world.proxy.rule('eth_getLogs', null);
    const points = await pointsOf(index);
    const newest = points.slice(-256);
    expect(newest).toEqual(Array.from({ length: 256 }, (_, nth) => head - 255 + nth));
    expect(points[0]).toBeLessThan(150);
    expect(points.length).toBeLessThan(256 + 1 + Math.ceil(head / 1024) + 1);
    expect(points.length).toBeGreaterThan(256 + 2);
  });
});
