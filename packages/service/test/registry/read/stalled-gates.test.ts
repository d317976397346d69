import { afterAll, beforeAll, expect, it } from 'vitest';
import { readChainIndex } from '../../../src/registry/read/read-chain-index.ts';
import { fixedClock } from '../../support/fixed-clock.ts';
import { newOwner, registryActions } from '../../support/registry-actions.ts';
import { newIndex, type RegistryChain, startRegistryChain, type TestIndex } from '../../support/registry-world.ts';

const clock = fixedClock('2026-11-28T10:00:00Z');
let world: RegistryChain;
let index: TestIndex;
beforeAll(async () => {
  world = await startRegistryChain();
  index = await newIndex({ client: world.realClient, isLocal: false, clock });
  await world.mine(40);
});
afterAll(async () => {
  await index.stop();
  await world.stop();
});

const gate = async (name: string) => (await readChainIndex(index.ctx)).gates.find((each) => each.name === name);
/** Time passes, in steps in which the node reads. */
async function pass(seconds: number, blocksEach: number): Promise<void> {
  for (let step = 0; step < seconds; step += 20) {
    clock.advance(20_000);
    if (blocksEach > 0) await world.mine(blocksEach);
    await index.reader.read();
  }
}

it('a head that stands stalls its gate and the index, with the reason, until it moves; nothing counts as safe meanwhile', async () => {
  const id = await registryActions(world.chain.rpcUrl).register(newOwner(), 'https://a.example');
  await world.mine(40);
  await index.reader.read();
  expect(await index.ctx.registryTokens.at(id)).toMatchObject({ isSafe: true });
  expect((await readChainIndex(index.ctx)).state).toBe('live');
  await pass(120, 0);
  expect(await gate('head')).toMatchObject({
    state: 'stalled',
    reason: expect.stringContaining('nothing gets deeper'),
  });
  expect((await readChainIndex(index.ctx)).state).toBe('stalled');
  const known = await index.ctx.registryTokens.at(id);
  expect(known).toMatchObject({ isSafe: false, waits: expect.stringContaining('nothing gets deeper') });
  await pass(20, 1);
  expect(await gate('head')).toMatchObject({ state: 'moving', ageS: 0, reason: null });
  expect((await readChainIndex(index.ctx)).state).toBe('live');
  expect(await index.ctx.registryTokens.at(id)).toMatchObject({ isSafe: true });
});

it('a safe block that stands stalls its gate, with the reason, while the index goes on and depth stands in for it', async () => {
  let standing: string | null = null;
  world.proxy.rule('eth_getBlockByNumber', async ({ params, forward, answer }) => {
    if (params[0] !== 'safe') return forward();
    standing ??= JSON.stringify(JSON.parse(await forward()).result);
    return answer(JSON.parse(standing));
  });
  await index.reader.read();
  const id = await registryActions(world.chain.rpcUrl).register(newOwner(), 'https://b.example');
  await pass(620, 5);
  expect(await gate('safe')).toMatchObject({
    state: 'stalled',
    reason: expect.stringContaining('600 deep count as safe'),
  });
  expect((await readChainIndex(index.ctx)).state).toBe('live');
  expect(await index.ctx.registryTokens.at(id)).toMatchObject({
    isSafe: false,
    waits: expect.stringContaining('`safe` block has been'),
  });
  await pass(20, 600);
  expect(await index.ctx.registryTokens.at(id)).toMatchObject({ isSafe: true, waits: null });
  world.proxy.rule('eth_getBlockByNumber', null);
});
