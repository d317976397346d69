import { usdcByChain } from '@agent-network/chain/addresses';
import { startAnvil } from '@agent-network/chain/anvil-process';
import { installContracts } from '@agent-network/chain/chain-funding';
import { callChain } from '@agent-network/chain/chain-rpc-client';
import { findAnvil } from '@agent-network/chain/find-anvil';
import type { StopList } from './stop-list.ts';

/** Starts a chain that mines a block every so many seconds and none between, as Base does; returns its address. */
export async function startSlowChain(stops: StopList, blockSeconds: number): Promise<string> {
  const anvil = await startAnvil(findAnvil(), ['--prune-history', '64']);
  stops.add(() => anvil.stop());
  await installContracts(anvil.rpcUrl, usdcByChain[84_532]);
  await callChain(anvil.rpcUrl, 'evm_setAutomine', false);
  await callChain(anvil.rpcUrl, 'evm_setIntervalMining', blockSeconds);
  return anvil.rpcUrl;
}
