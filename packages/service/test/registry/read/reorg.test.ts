import { callChain } from '@agent-network/chain/chain-rpc-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newOwner, registryActions } from '../../support/registry-actions.ts';
import { newIndex, type RegistryChain, startRegistryChain, type TestIndex } from '../../support/registry-world.ts';

let world: RegistryChain;
let index: TestIndex;
let registry: ReturnType<typeof registryActions>;
beforeAll(async () => {
  world = await startRegistryChain();
  index = await newIndex({ client: world.client });
  registry = registryActions(world.chain.rpcUrl);
  await world.mine(20);
});
afterAll(async () => {
  await index.stop();
  await world.stop();
});

const read = () => index.reader.read();
const uriOf = async (id: bigint) => (await index.ctx.registryTokens.at(id))?.token.uri ?? null;
const reorgs = async () => (await index.ctx.metrics.registryReorgs.get()).values[0]?.value ?? 0;
const reorgsIn = async (work: () => Promise<unknown>) => {
  const before = await reorgs();
  await work();
  return (await reorgs()) - before;
};
/** The index says what one says that starts now. */
async function expectTrue(): Promise<void> {
  expect(await index.rows()).toEqual(await world.freshRows());
  expect(await index.block()).toBe(BigInt(await world.headBlock()));
}

/** The hash of a block of another chain, for the hash of one of this. */
const other = (hash: string) => `${hash.slice(0, -2)}${hash.at(-2) === '0' ? '1' : '0'}"`;

type Change = (owner: ReturnType<typeof newOwner>, id: bigint) => Promise<unknown>;
const changes: [string, Change][] = [
  ['a registration', (owner) => registry.register(owner, 'https://a.example/another')],
  ['a transfer', (owner, id) => registry.transfer(owner, newOwner(), id)],
  ['a change of the URI', (owner, id) => registry.setUri(owner, id, 'https://a.example/changed')],
  ['a change of the wallet', (owner, id) => registry.setWallet(owner, id)],
  ['a change of metadata', (owner, id) => registry.setMetadata(owner, id, 'key', '0x02')],
];

describe.each([1, 3, 10])('a reorg of %i blocks', (depth) => {
  it.each(changes)('that takes %s back leaves the index as one that starts afterwards', async (_name, change) => {
    const owner = newOwner();
    const id = await registry.register(owner, 'https://a.example/', [{ key: 'key', value: '0x01' }]);
    await world.mine(depth);
    await read();
    const before = await index.rows();
    await change(owner, id);
    await world.mine(depth - 1);
    await read();
    expect(await index.rows()).not.toEqual(before);
    await world.replace(depth);
    expect(await reorgsIn(read)).toBe(1);
    expect(await index.rows()).toEqual(before);
    await expectTrue();
  });

  it('that puts another thing in the place of what was there is followed', async () => {
    const owner = newOwner();
    const id = await registry.register(owner, 'https://a.example/');
    await world.mine(1);
    await registry.setUri(owner, id, 'https://a.example/old');
    await world.mine(depth - 1);
    await read();
    expect(await uriOf(id)).toBe('https://a.example/old');
    await callChain(world.chain.rpcUrl, 'anvil_rollback', depth);
    await registry.setUri(owner, id, 'https://a.example/new');
    await registry.register(owner, 'https://a.example/second');
    await world.mine(depth);
    await read();
    expect(await uriOf(id)).toBe('https://a.example/new');
    await expectTrue();
  });
});

it('a reorg that leaves the chain as long as it was is seen', async () => {
  const owner = newOwner();
  const id = await registry.register(owner, 'https://a.example/');
  await read();
  await callChain(world.chain.rpcUrl, 'anvil_rollback', 1);
  await callChain(world.chain.rpcUrl, 'evm_increaseTime', 1);
  await world.mine(1);
  await read();
  expect(await uriOf(id)).toBeNull();
  await expectTrue();
});

it('a reorg that leaves the chain shorter is seen as soon as a block contradicts', async () => {
  const id = await registry.register(newOwner(), 'https://a.example/');
  await world.mine(4);
  await read();
  await callChain(world.chain.rpcUrl, 'anvil_rollback', 5);
  await read();
  expect(await uriOf(id)).toBe('https://a.example/');
  await callChain(world.chain.rpcUrl, 'evm_increaseTime', 1);
  await world.mine(1);
  await read();
  expect(await uriOf(id)).toBeNull();
  await expectTrue();
});

it('whoever follows tokens hears of what a reorg took back or away', async () => {
  const owner = newOwner();
  const kept = await registry.register(owner, 'kept');
  await world.mine(1);
  await registry.setUri(owner, kept, 'changed');
  const gone = await registry.register(owner, 'gone');
  await read();
  const seen = (await index.ctx.registryTokens.changedAfter(0n, 10_000)).at(-1)?.number ?? 0n;
  await world.replace(2);
  await read();
  const changed = await index.ctx.registryTokens.changedAfter(seen, 10);
  expect(changed.map(({ tokenId, token }) => [tokenId, token?.uri ?? null])).toEqual(
    expect.arrayContaining([
      [kept, 'kept'],
      [gone, null],
    ]),
  );
  expect(changed).toHaveLength(2);
});

it('a reorg deeper than all that is remembered: the index starts again', async () => {
  await registry.register(newOwner(), 'https://a.example/');
  await read();
  await index.ctx.db.query('', `update registry_point set block_hash = '0x' || md5(block_hash)`);
  await world.mine(1);
  expect(await reorgsIn(read)).toBe(1);
  await expectTrue();
});

it('a machine that is behind is no reorg, and neither is one that knows the number of a block but not the block', async () => {
  const owner = newOwner();
  const id = await registry.register(owner, 'https://a.example/');
  await world.mine(5);
  await read();
  const [before, reorgsBefore] = [await index.rows(), await reorgs()];
  const behind = `0x${((await world.headBlock()) - 3).toString(16)}`;
  world.proxy.rule('eth_getBlockByNumber', async ({ params, forward, answer }) => {
    if (params[0] !== 'latest') return forward();
    return answer(await callChain(world.chain.rpcUrl, 'eth_getBlockByNumber', behind, false));
  });
  await read();
  expect(await index.rows()).toEqual(before);
  await registry.setUri(owner, id, 'https://a.example/new');
  const head = `0x${(await world.headBlock()).toString(16)}`;
  world.proxy.rule('eth_getBlockByNumber', ({ params, forward, answer }) =>
    params[0] === head ? answer(null) : forward(),
  );
  world.proxy.rule('eth_getLogs', ({ answer }) => answer([]));
  await read();
  expect(await index.rows()).toEqual(before);
  world.proxy.rule('eth_getBlockByNumber', null);
  world.proxy.rule('eth_getLogs', null);
  await read();
  expect(await reorgs()).toBe(reorgsBefore);
  expect(await uriOf(id)).toBe('https://a.example/new');
  await expectTrue();
});

it('a reorg between two questions about the same blocks leaves nothing of the old ones', async () => {
  const owner = newOwner();
  const id = await registry.register(owner, 'https://a.example/');
  await world.mine(3);
  let isReplaced = false;
  world.proxy.rule('eth_getLogs', async ({ forward }) => {
    const told = await forward();
    if (!isReplaced) await world.replace(4);
    isReplaced = true;
    return told;
  });
  await read();
  await read();
  world.proxy.rule('eth_getLogs', null);
  expect(isReplaced).toBe(true);
  expect(await uriOf(id)).toBeNull();
  await expectTrue();
});

it('an RPC node that serves another chain for a while takes nothing back', async () => {
  const id = await registry.register(newOwner(), 'https://a.example/kept');
  await read();
  const before = await index.rows();
  await world.mine(1);
  world.proxy.rule('eth_chainId', ({ answer }) => answer('0x1'));
  world.proxy.rule('eth_getBlockByNumber', async ({ forward }) =>
    (await forward()).replaceAll(/"0x[0-9a-f]{64}"/g, other),
  );
  expect(await reorgsIn(read)).toBe(0);
  expect(await index.rows()).toEqual(before);
  for (const method of ['eth_chainId', 'eth_getBlockByNumber']) world.proxy.rule(method, null);
  await read();
  expect(await uriOf(id)).toBe('https://a.example/kept');
  await expectTrue();
});
