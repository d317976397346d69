import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { identityRegistryByChain, reputationRegistryByChain, usdcByChain } from '@agent-network/chain/addresses';
import { identityRegistryCode, reputationRegistryCode, testUsdcAbi } from '@agent-network/chain/artifacts';
import { callChain, callChainBatch, type RpcCall } from '@agent-network/chain/chain-rpc-client';
import { type LocalChain, startLocalChain } from '@agent-network/chain/local-chain';
import { encodeFunctionData } from 'viem';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { loadLocalKeys } from '../../src/local/local-keys.ts';
import { prepareJoinedChain } from '../../src/local/local-parts.ts';

const registries = [identityRegistryByChain[84_532], reputationRegistryByChain[84_532]];
let chain: LocalChain;
let dataDir: string;

beforeEach(async () => {
  chain = await startLocalChain();
  dataDir = await mkdtemp(join(tmpdir(), 'joined-chain-'));
});
afterEach(async () => {
  await chain.stop();
  await rm(dataDir, { recursive: true, force: true });
});

/** What a local node does with a chain that it was given the address of; answers its first test wallet. */
async function joinChain(): Promise<`0x${string}`> {
  const env = { DATA_DIR: dataDir, DATABASE_URL: 'postgres://127.0.0.1/unused', CHAIN_RPC_URL: chain.rpcUrl };
  const { config } = readConfig({ ...env, LOG_LEVEL: 'silent' });
  const keys = await loadLocalKeys(dataDir);
  const chainRpcUrl = () => chain.rpcUrl;
  const plan = { databaseUrl: '', keys, senderPrivateKeys: [], startChain: async () => chain.rpcUrl, chainRpcUrl };
  await prepareJoinedChain(config, plan, []);
  return keys.account.address as `0x${string}`;
}

const codes = () =>
  callChainBatch(
    chain.rpcUrl,
    registries.map((address): RpcCall => ['eth_getCode', address, 'latest']),
  );

it('a node that joins a chain of an older version puts the registries there, whenever it starts, and funds its wallets once', async () => {
  const remove = () =>
    callChainBatch(
      chain.rpcUrl,
      registries.map((address): RpcCall => ['anvil_setCode', address, '0x']),
    );
  for (const _ of ['first start', 'second start']) {
    await remove();
    const wallet = await joinChain();
    expect(await codes()).toEqual([identityRegistryCode, reputationRegistryCode]);
    const data = encodeFunctionData({ abi: testUsdcAbi, functionName: 'balanceOf', args: [wallet] });
    const balance = await callChain<string>(chain.rpcUrl, 'eth_call', { to: usdcByChain[84_532], data }, 'latest');
    expect(BigInt(balance)).toBe(1_000_000_000n);
  }
});
