import { stringToHex } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { fixedClock } from '../../support/fixed-clock.ts';
import { newHolder, newOwner, registryActions } from '../../support/registry-actions.ts';
import { newIndex, type RegistryChain, startRegistryChain, type TestIndex } from '../../support/registry-world.ts';

let world: RegistryChain;
let index: TestIndex;
let registry: ReturnType<typeof registryActions>;
beforeAll(async () => {
  world = await startRegistryChain();
  index = await newIndex({ client: world.client });
  registry = registryActions(world.chain.rpcUrl);
});
beforeEach(() => index.clear());
afterAll(async () => {
  await index.stop();
  await world.stop();
});

const read = () => index.reader.read();
const tokenOf = async (id: bigint) =>
  (await index.rows()).tokens?.find(({ token_id }) => BigInt(token_id) === id) ?? null;

const countedAs = async (kind: string) =>
  (await index.ctx.metrics.registryLogs.get()).values.find(({ labels }) => labels.kind === kind)?.value ?? 0;

describe('a log of the registry', () => {
  it('updates a token: its registrant, owner, URI, wallet and metadata', async () => {
    const [owner, next] = [newOwner(), newOwner()];
    const id = await registry.register(owner, 'https://a.example/1.json', [{ key: 'a', value: '0x01' }]);
    await read();
    const made = await tokenOf(id);
    expect(made).toMatchObject({ owner, registered_by: owner, uri: 'https://a.example/1.json', wallet: owner });
    expect(made.metadata).toEqual({ a: '0x01' });
    expect(made.changed_block).toBe(made.registered_block);
    await registry.setUri(owner, id, 'https://a.example/2.json');
    await registry.setMetadata(owner, id, 'b', stringToHex('two'));
    await registry.setMetadata(owner, id, 'a', '0x');
    const wallet = await registry.setWallet(owner, id);
    await read();
    expect(await tokenOf(id)).toMatchObject({ uri: 'https://a.example/2.json', wallet, metadata: { b: '0x74776f' } });
    await registry.transfer(owner, next, id);
    await read();
    const head = await world.headBlock();
    expect(await tokenOf(id)).toMatchObject({ owner: next, wallet: null, registered_by: owner, changed_block: head });
    await registry.setWallet(next, id);
    await registry.unsetWallet(next, id);
    await read();
    expect(await tokenOf(id)).toMatchObject({ wallet: null, uri: 'https://a.example/2.json' });
    expect((await tokenOf(id)).registered_hash).toBe(made.registered_hash);
  });

  it('is read in the order of a block, however many logs are in it', async () => {
    const [holder, next] = [await newHolder(world.chain.rpcUrl), newOwner()];
    const id = await registry.register(newOwner(), '').then((last) => last + 1n);
    await holder.run([
      { functionName: 'register', args: ['first'] },
      { functionName: 'setAgentURI', args: [id, 'second'] },
      { functionName: 'setAgentURI', args: [id, 'third'] },
      { functionName: 'transferFrom', args: [holder.address, next, id] },
    ]);
    await read();
    expect(await tokenOf(id)).toMatchObject({ uri: 'third', owner: next, wallet: null, registered_by: holder.address });
    expect(await index.rows()).toEqual(await world.freshRows());
  });

  it('is left out where it is too long or no text, and why is told', async () => {
    const owner = newOwner();
    const long = await registry.register(owner, `https://a.example/${'x'.repeat(8192)}`, [
      { key: 'long', value: `0x${'ab'.repeat(8193)}` },
      { key: 'k'.repeat(257), value: '0x01' },
      { key: 'good', value: '0x02' },
    ]);
    const odd = await registry.register(owner, 'https://a.example/\u0000', [{ key: '\u0000', value: '0x01' }]);
    const most = await registry.register(owner, `data:,${'é'.repeat(4093)}`, [{ key: '__proto__', value: '0x03' }]);
    await read();
    expect(await tokenOf(long)).toMatchObject({
      uri: '',
      uri_fault: 'longer than 8192 bytes',
      metadata: { good: '0x02' },
    });
    expect(await tokenOf(odd)).toMatchObject({ uri: '', uri_fault: 'no text', metadata: {} });
    expect(Object.entries((await tokenOf(most)).metadata)).toEqual([['__proto__', '0x03']]);
    expect(await tokenOf(most)).toMatchObject({ uri: `data:,${'é'.repeat(4093)}`, uri_fault: null });
    await registry.setUri(owner, long, 'https://a.example/short');
    await read();
    expect(await tokenOf(long)).toMatchObject({ uri: 'https://a.example/short', uri_fault: null });
    expect(await countedAs('malformed')).toBe(2);
  });

  it('of other contracts, or by machines that answer nonsense, is passed over', async () => {
    const id = await registry.register(newOwner(), 'https://a.example/');
    world.proxy.rule('eth_getLogs', async ({ forward, answer }) => {
      const { result } = JSON.parse(await forward());
      const [log] = result;
      const bad = [
        { ...log, address: newOwner() },
        { ...log, topics: log.topics.slice(0, 2) },
        { ...log, topics: [`0x${'1'.repeat(64)}`] },
        { ...log, blockNumber: null },
      ];
      return answer([...bad, ...result.toReversed()]);
    });
    await read();
    world.proxy.rule('eth_getLogs', null);
    expect(await tokenOf(id)).toMatchObject({ uri: 'https://a.example/' });
    expect(await index.rows()).toEqual(await world.freshRows());
  });
});

describe('whoever follows tokens', () => {
  it('hears of each once, in the order of its last change', async () => {
    const owner = newOwner();
    const changed = async (after: bigint) =>
      (await index.ctx.registryTokens.changedAfter(after, 1000)).map(({ number, tokenId }) => ({ number, tokenId }));
    await read();
    const start = (await changed(0n)).at(-1)?.number ?? 0n;
    const [a, b] = [await registry.register(owner, 'a'), await registry.register(owner, 'b')];
    await read();
    const first = await changed(start);
    expect(first.map(({ tokenId }) => tokenId)).toEqual([a, b]);
    await registry.setUri(owner, a, 'c');
    await read();
    expect((await changed(first.at(-1)?.number ?? 0n)).map(({ tokenId }) => tokenId)).toEqual([a]);
    expect((await changed(start)).map(({ tokenId }) => tokenId)).toEqual([b, a]);
  });
});

describe('a reading that is safe to act on', () => {
  it('is, on a local chain, all that was read', async () => {
    const id = await registry.register(newOwner(), 'a');
    expect(await index.ctx.registryTokens.at(id)).toBeNull();
    await read();
    expect(await index.ctx.registryTokens.at(id)).toMatchObject({ isSafe: true, token: { tokenId: id, uri: 'a' } });
    expect(await index.ctx.registryTokens.at(id + 1n)).toBeNull();
  });

  it('is, on a real chain, what did not change after the block that is safe', async () => {
    const clock = fixedClock('2026-11-21T10:00:00Z');
    const real = await newIndex({ client: world.realClient, isLocal: false, clock });
    const tokens = real.ctx.registryTokens;
    const owner = newOwner();
    const id = await registry.register(owner, 'a');
    await real.reader.read();
    expect(await tokens.at(id)).toMatchObject({ isSafe: false });
    await world.mine(32);
    await real.reader.read();
    expect(await tokens.at(id)).toMatchObject({ isSafe: true, token: { owner } });
    const next = newOwner();
    await registry.transfer(owner, next, id);
    await real.reader.read();
    expect(await tokens.at(id)).toMatchObject({ isSafe: false, token: { owner: next } });
    await world.mine(32);
    await real.reader.read();
    expect(await tokens.at(id)).toMatchObject({ isSafe: true });
    clock.advance(30_000);
    expect(await tokens.at(id)).toMatchObject({ isSafe: false });
    await real.stop();
  });

  it('is nothing when the chain does not say what is safe, or what is safe is not read yet', async () => {
    const real = await newIndex({ client: world.realClient, isLocal: false });
    const id = await registry.register(newOwner(), 'a');
    await world.mine(40);
    world.proxy.rule('eth_getBlockByNumber', ({ params, forward, refuse }) =>
      params[0] === 'safe' ? refuse('unknown block tag') : forward(),
    );
    await real.reader.read();
    world.proxy.rule('eth_getBlockByNumber', null);
    expect(await real.ctx.registryTokens.at(id)).toMatchObject({ isSafe: false });
    await real.reader.read();
    expect(await real.ctx.registryTokens.at(id)).toMatchObject({ isSafe: true });
    world.proxy.rule('eth_getLogs', () => null);
    await world.mine(40);
    await real.reader.read();
    world.proxy.rule('eth_getLogs', null);
    expect(await real.ctx.registryTokens.at(id)).toMatchObject({ isSafe: false });
    await real.stop();
  });
});
