import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { identityRegistryByChain, reputationRegistryByChain, usdcByChain } from '@agent-network/chain/addresses';
import { identityRegistryCode, reputationRegistryCode, testUsdcAbi } from '@agent-network/chain/artifacts';
import { callChain, callChainBatch, type RpcCall } from '@agent-network/chain/chain-rpc-client';
import { type LocalChain, startLocalChain } from '@agent-network/chain/local-chain';
import { encodeFunctionData } from 'viem';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { keysOf } from '../../src/chain/keys/node-keys.ts';
import { fundOnJoinedChain, startLocalParts } from '../../src/compose/local/local-parts.ts';
import { readConfig } from '../../src/config/config.ts';
import { type StopStep, stopInOrder } from '../../src/lib/process/graceful-stop.ts';
import { silentLog } from '../../src/lib/telemetry/log.ts';

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

/** What a local node does with a chain that it was given the address of; answers its first test wallet, and all that send. */
async function joinChain(): Promise<{ wallet: `0x${string}`; senders: `0x${string}`[] }> {
  const env = { DATA_DIR: dataDir, DATABASE_URL: 'postgres://127.0.0.1/unused', CHAIN_RPC_URL: chain.rpcUrl };
  const { config, secrets } = readConfig({ ...env, LOG_LEVEL: 'silent' });
  const stops: StopStep[] = [];
  const plan = await startLocalParts({ config, secrets, log: silentLog }, stops);
  expect(await plan.openChain()).toBe(chain.rpcUrl);
  await fundOnJoinedChain(config, plan);
  await stopInOrder(stops, { log: silentLog });
  return {
    wallet: plan.keys.account.address as `0x${string}`,
    senders: keysOf(plan.nodeKeys).map(({ address }) => address as `0x${string}`),
  };
}

const codes = () =>
  callChainBatch(
    chain.rpcUrl,
    registries.map((address): RpcCall => ['eth_getCode', address, 'latest']),
  );

it('a node that joins a chain of an older version puts the registries there, whenever it starts, funds its wallets once, and its keys that send when they have no gas', async () => {
  const remove = () =>
    callChainBatch(
      chain.rpcUrl,
      registries.map((address): RpcCall => ['anvil_setCode', address, '0x']),
    );
  for (const _ of ['first start', 'second start']) {
    await remove();
    const { wallet, senders } = await joinChain();
    expect(await codes()).toEqual([identityRegistryCode, reputationRegistryCode]);
    const data = encodeFunctionData({ abi: testUsdcAbi, functionName: 'balanceOf', args: [wallet] });
    const balance = await callChain<string>(chain.rpcUrl, 'eth_call', { to: usdcByChain[84_532], data }, 'latest');
    expect(BigInt(balance)).toBe(1_000_000_000n);
    expect(senders).toHaveLength(4);
    for (const each of senders) {
      expect(BigInt(await callChain<string>(chain.rpcUrl, 'eth_getBalance', each, 'latest'))).toBe(10n ** 22n);
      await callChain(chain.rpcUrl, 'anvil_setBalance', each, '0x0');
    }
  }
});

it('a chain that does not answer is named, without the path of its address', async () => {
  await chain.stop();
  const { port } = new URL(chain.rpcUrl);
  const env = {
    DATA_DIR: dataDir,
    DATABASE_URL: 'postgres://127.0.0.1/unused',
    CHAIN_RPC_URL: `${chain.rpcUrl}/v2/key`,
  };
  const { config, secrets } = readConfig({ ...env, LOG_LEVEL: 'silent' });
  const stops: StopStep[] = [];
  const plan = await startLocalParts({ config, secrets, log: silentLog }, stops);
  await expect(plan.openChain()).rejects.toThrow(
    `no chain answers at CHAIN_RPC_URL or NETWORKS (127.0.0.1:${port}: ECONNREFUSED); start it, or correct the setting`,
  );
  await stopInOrder(stops, { log: silentLog });
});
