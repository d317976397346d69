import { callChain } from '@agent-network/chain/chain-rpc-client';
import { type LocalChain, startLocalChain } from '@agent-network/chain/local-chain';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '../../src/lib/until.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { registerOnChain } from '../support/registry-actions.ts';
import { startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { untilRegistered } from './support/registered.ts';
import { stockReader } from './support/stock-reader.ts';

let local: LocalChain;
let h: Harness;
let agents: TestAgent[] = [];

beforeAll(async () => {
  local = await startLocalChain({ pastStates: 64 });
  h = await startHarness({ registers: true, env: { CHAIN_RPC_URL: local.rpcUrl } });
});
afterAll(async () => {
  await Promise.all(agents.map((agent) => agent.die()));
  await h.stop();
  await local.stop();
});

it('a reorg that takes registrations back has them sent again: the token ids are corrected, nobody gets two', async () => {
  const chain = stockReader(local.rpcUrl);
  const registrar = h.ctx.registrar?.address ?? '';
  const owner = await h.newAccount();
  await until(async () => ((await chain.countOf(registrar)) > 0 ? true : null), {
    timeoutMs: 10_000,
    firstMs: 20,
    mostMs: 50,
  });
  const start = Number(await h.ctx.usdc.headBlock());
  agents = await Promise.all(Array.from({ length: 3 }, () => startTestAgent(h, { owner })));
  const before = await Promise.all(agents.map(({ id }) => untilRegistered(h, id)));
  const blocks = Number(await h.ctx.usdc.headBlock()) - start;

  await callChain(local.rpcUrl, 'anvil_rollback', blocks);
  await callChain(local.rpcUrl, 'evm_increaseTime', 1);
  const stranger = (await h.newAccount()).address;
  const taken = await registerOnChain(local.rpcUrl, stranger, 'https://stranger.example');
  await callChain(local.rpcUrl, 'anvil_mine', `0x${(blocks + 2).toString(16)}`);
  expect(before.map(({ onChain }) => onChain.tokenId)).toContain(taken);

  const isRight = async () => {
    const now = await Promise.all(agents.map(({ id }) => untilRegistered(h, id)));
    const right = await Promise.all(
      now.map(async ({ id, onChain: { tokenId } }) => {
        const uri = await chain.tokenUri(tokenId).catch(() => '');
        return tokenId !== taken && uri.endsWith(`/agents/${id}/registration.json`);
      }),
    );
    return right.every(Boolean) ? true : null;
  };
  expect(await until(isRight, { timeoutMs: 30_000, firstMs: 100, mostMs: 500 })).toBe(true);
  expect(await chain.countOf(registrar)).toBe(4);
  expect((await chain.ownerOf(taken)).toLowerCase()).toBe(stranger);
}, 90_000);
