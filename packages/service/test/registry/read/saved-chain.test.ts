import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callChain } from '@agent-network/chain/chain-rpc-client';
import { type LocalChain, startLocalChain } from '@agent-network/chain/local-chain';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LogsRefused, type RegistryClient } from '../../../src/registry/read/registry-log-client.ts';
import { newOwner, registryActions } from '../../support/registry-actions.ts';
import { clientOf, newIndex, type TestIndex } from '../../support/registry-world.ts';

const NEVER_S = 1_000_000;
let dataDir: string;
let chain: LocalChain;
let kept: TestIndex;
const indexes: TestIndex[] = [];
const start = () => startLocalChain({ dataDir, blockTimeS: NEVER_S, idleBlockTimeS: NEVER_S });
const indexOf = async ({ rpcUrl }: LocalChain, of?: TestIndex) => {
  const index = await newIndex({ client: clientOf(rpcUrl, true), ...(of ? { of } : {}) });
  indexes.push(index);
  return index;
};
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'agent-network-saved-chain-'));
  chain = await start();
  await registryActions(chain.rpcUrl).register(newOwner(), 'https://a.example/');
  await callChain(chain.rpcUrl, 'anvil_mine', '0x12c');
  kept = await indexOf(chain);
  await kept.reader.read();
  await callChain(chain.rpcUrl, 'anvil_mine', '0x12c');
  await registryActions(chain.rpcUrl).register(newOwner(), 'https://b.example/');
  await chain.stop();
  chain = await start();
  expect(await callChain(chain.rpcUrl, 'eth_getBlockByNumber', '0x64', false)).toBeNull();
});
afterAll(async () => {
  for (const index of indexes.toReversed()) await index.stop();
  await chain.stop();
  await rm(dataDir, { recursive: true, force: true });
});

it('a local chain that dropped its old empty blocks when it was saved is read to its end', async () => {
  const limited = clientOf(chain.rpcUrl, true);
  const logsIn: RegistryClient['logsIn'] = async (from, to) => {
    if (from === 0n && to > 70n) throw new LogsRefused(to - from + 1n);
    return limited.logsIn(from, to);
  };
  const fresh = await newIndex({ client: { ...limited, logsIn } });
  indexes.push(fresh);
  await fresh.reader.read();
  const { tokens } = await fresh.rows();
  expect(tokens?.map(({ uri }) => uri)).toEqual(['https://a.example/', 'https://b.example/']);
  expect(await fresh.block()).toBe(BigInt(await callChain<string>(chain.rpcUrl, 'eth_blockNumber')));
});

it('a node that last read a block which was dropped reads on, and takes that for no reorg', async () => {
  const again = await indexOf(chain, kept);
  await again.reader.read();
  const { tokens } = await again.rows();
  expect(tokens?.map(({ uri }) => uri)).toEqual(['https://a.example/', 'https://b.example/']);
  expect((await again.ctx.metrics.registryReorgs.get()).values[0]?.value ?? 0).toBe(0);
});
