import { afterAll, beforeAll, expect, it } from 'vitest';
import { newOwner, registryActions } from '../../support/registry-actions.ts';
import { newIndex, type RegistryChain, startRegistryChain, type TestIndex } from '../../support/registry-world.ts';
import { leaveOutLogs } from '../../support/rpc-proxy.ts';

let world: RegistryChain;
let index: TestIndex;
let registry: ReturnType<typeof registryActions>;
beforeAll(async () => {
  world = await startRegistryChain();
  index = await newIndex({ client: world.client });
  registry = registryActions(world.chain.rpcUrl);
});
afterAll(async () => {
  await index.stop();
  await world.stop();
});

it.each([
  ['the next block', 1],
  ['a chain that is a hundred blocks further', 100],
])(
  'a token and a sale whose logs an RPC node left out are read with %s, and the index equals a new one',
  async (_, blocks) => {
    const [owner, next, other] = [newOwner(), newOwner(), newOwner()];
    const id = await registry.register(owner, 'https://a.example');
    await index.reader.read();
    leaveOutLogs(world.proxy, 3);
    const missed = await registry.register(other, 'https://b.example');
    await registry.transfer(owner, next, id);
    await index.reader.read();
    expect((await index.ctx.registryTokens.at(id))?.token.owner).toBe(owner);
    expect(await index.ctx.registryTokens.at(missed)).toBeNull();
    world.proxy.rule('eth_getLogs', null);
    await world.mine(blocks);
    // A log that is newer than those that were left out, about the same token.
    await registry.setUri(next, id, 'https://c.example');
    await index.reader.read();
    for (let step = 0; step < 3; step++) {
      await world.mine(50);
      await index.reader.read();
    }
    expect((await index.ctx.registryTokens.at(id))?.token).toMatchObject({ owner: next, uri: 'https://c.example' });
    expect(await index.rows()).toEqual(await world.freshRows());
  },
);

it('where the safe block stands at 0, or there is none, a token is safe once it is 600 blocks deep', async () => {
  const real = await newIndex({ client: world.realClient, isLocal: false });
  const id = await registry.register(newOwner(), 'https://d.example');
  world.proxy.rule('eth_getBlockByNumber', ({ params, forward, refuse }) =>
    params[0] === 'safe' ? refuse('unknown block tag') : forward(),
  );
  await real.reader.read();
  expect(await real.ctx.registryTokens.at(id)).toMatchObject({ isSafe: false, waits: expect.stringContaining('safe') });
  await world.mine(601);
  while (!(await real.reader.read()));
  expect(await real.ctx.registryTokens.at(id)).toMatchObject({ isSafe: true, waits: null });
  world.proxy.rule('eth_getBlockByNumber', null);
  await real.stop();
});
