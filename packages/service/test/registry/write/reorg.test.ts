import { callChain } from '@agent-network/chain/chain-rpc-client';
import { type LocalChain, startLocalChain } from '@agent-network/chain/local-chain';
import { describe, expect, it } from 'vitest';
import { type Harness, startHarness } from '../../support/harness.ts';
import { isLong } from '../../support/long.ts';
import { untilSo } from '../../support/network.ts';
import { registerOnChain, registryActions } from '../../support/registry-actions.ts';
import { clientOf, newIndex, rowsOf } from '../../support/registry-world.ts';
import { startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { until } from '../../support/until.ts';
import { untilIdentity, untilRegistered } from './support/registered.ts';
import { stockReader } from './support/stock-reader.ts';
import { newWalletOwner, proveWallet } from './support/wallet-owner.ts';

interface World {
  readonly local: LocalChain;
  readonly h: Harness;
  readonly agents: TestAgent[];
}

/** A node on a chain of its own, whose blocks a test takes back. */
async function newWorld(finish: (end: () => Promise<void>) => void): Promise<World> {
  const local = await startLocalChain({ pastStates: 64 });
  finish(() => local.stop());
  const h = await startHarness({ registers: true, env: { CHAIN_RPC_URL: local.rpcUrl } });
  const agents: TestAgent[] = [];
  finish(async () => {
    await Promise.all(agents.map((agent) => agent.die()));
    await h.stop();
  });
  return { local, h, agents };
}

/** Lets all be mined that comes of some work, and takes back its blocks: so many, or more if it took more. */
async function takeBack({ local }: World, depth: number, work: () => Promise<unknown>): Promise<void> {
  const rpc = (method: string, ...params: unknown[]) => callChain<string>(local.rpcUrl, method, ...params);
  const head = async () => Number(await rpc('eth_blockNumber'));
  const before = await head();
  await work();
  while ((await head()) < before + depth) await rpc('anvil_mine', '0x1');
  const taken = (await head()) - before;
  await rpc('anvil_rollback', taken);
  await rpc('evm_increaseTime', 1);
  await rpc('anvil_mine', `0x${(taken + 1).toString(16)}`);
}

/** The node's index says, row by row, what one says that reads the chain from its start. */
async function expectFresh({ local, h }: World): Promise<void> {
  const fresh = await newIndex({ client: clientOf(local.rpcUrl, true) });
  const isSame = async () => {
    await fresh.clear();
    await fresh.reader.read();
    const [here, there] = [await rowsOf(h.ctx.db), await fresh.rows()];
    return JSON.stringify(here) === JSON.stringify(there) ? here.tokens : null;
  };
  const tokens = await until(isSame, 50);
  await fresh.stop();
  expect(tokens?.length).toBeGreaterThan(1);
}

/** An agent of a proven owner, registered before any of the blocks that are taken back. */
async function ownedAgent({ h, agents }: World) {
  const owner = await newWalletOwner(h);
  const agent = await startTestAgent(h, { owner });
  agents.push(agent);
  await proveWallet(h, owner, agent.id);
  const { onChain } = await untilRegistered(h, agent.id);
  return { owner, id: agent.id, tokenId: onChain.tokenId as string };
}
type Owned = Awaited<ReturnType<typeof ownedAgent>>;

async function claim({ h }: World, { id, owner }: Owned): Promise<void> {
  const { body } = await h.request('POST', `/identity/${id}/claim`, { key: owner.key });
  expect(body.data.state).toBe('claimed');
}

/** Beside each other: each waits for the node to read the chain and to write to it. */
describe.concurrent('a reorg', () => {
  it('that removes registrations has them sent again: token ids are corrected, and no agent gets two', async ({
    expect,
    onTestFinished,
  }) => {
    const { local, h, agents } = await newWorld(onTestFinished);
    const chain = stockReader(local.rpcUrl);
    const registrar = h.ctx.registrar?.address ?? '';
    const owner = await h.newAccount();
    await until(async () => (await chain.countOf(registrar)) > 0);
    const start = Number(await h.ctx.usdc.headBlock());
    const made = await Promise.all(Array.from({ length: 3 }, () => startTestAgent(h, { owner })));
    agents.push(...made);
    const before = await Promise.all(made.map(({ id }) => untilRegistered(h, id)));
    const blocks = Number(await h.ctx.usdc.headBlock()) - start;

    await callChain(local.rpcUrl, 'anvil_rollback', blocks);
    await callChain(local.rpcUrl, 'evm_increaseTime', 1);
    const stranger = (await h.newAccount()).address;
    const taken = await registerOnChain(local.rpcUrl, stranger, 'https://stranger.example');
    await callChain(local.rpcUrl, 'anvil_mine', `0x${(blocks + 2).toString(16)}`);
    expect(before.map(({ onChain }) => onChain.tokenId)).toContain(taken);

    const isRight = async () => {
      const now = await Promise.all(made.map(({ id }) => untilRegistered(h, id)));
      const right = await Promise.all(
        now.map(async ({ id, onChain: { tokenId } }) => {
          const uri = await chain.tokenUri(tokenId).catch(() => '');
          return tokenId !== taken && uri.endsWith(`/agents/${id}/registration.json`);
        }),
      );
      return right.every(Boolean);
    };
    await until(isRight);
    expect(await chain.countOf(registrar)).toBe(4);
    expect((await chain.ownerOf(taken)).toLowerCase()).toBe(stranger);
  });

  /** The shallowest and the deepest; what is between them is in the long run. */
  it.for(isLong ? [1, 3, 10] : [1, 10])(
    'of %i blocks that removes a registration, a claim and a sale: the node repeats its own writes, and its index equals a fresh one',
    async (depth, { expect, onTestFinished }) => {
      const world = await newWorld(onTestFinished);
      const { local, h } = world;
      const chain = stockReader(local.rpcUrl);
      const [claimer, seller] = await Promise.all([ownedAgent(world), ownedAgent(world)]);
      await claim(world, seller);
      const buyer = await newWalletOwner(h);
      const { transfer } = registryActions(local.rpcUrl);
      let newcomer = '';
      await takeBack(world, depth, async () => {
        const register = async () => {
          newcomer = (await ownedAgent(world)).id;
        };
        const sell = async () => {
          await transfer(seller.owner.address, buyer.address, BigInt(seller.tokenId));
          await untilIdentity(h, seller.id, ({ frozen }) => frozen);
        };
        await Promise.all([register(), claim(world, claimer), sell()]);
      });
      const isRegistered = async () => {
        const { onChain } = await untilRegistered(h, newcomer);
        const uri = await chain.tokenUri(onChain.tokenId).catch(() => '');
        return uri.endsWith(`/agents/${newcomer}/registration.json`);
      };
      await untilSo('the agent is registered again', isRegistered);
      const isGiven = async () => (await chain.ownerOf(claimer.tokenId)).toLowerCase() === claimer.owner.address;
      await untilSo('the token is given away again', isGiven);
      await untilIdentity(h, claimer.id, ({ onChain }) => onChain?.custody === 'owner');
      expect(await untilIdentity(h, seller.id, ({ frozen }) => !frozen)).toMatchObject({ owner: seller.owner.address });
      await expectFresh(world);
    },
  );
});
