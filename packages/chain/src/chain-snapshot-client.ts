import { callChain, callChainBatch } from './chain-rpc-client.ts';

/**
 * The chain's whole state as gzipped JSON. Mining rests meanwhile: anvil reads blocks and balances one after the other,
 * and a block mined in between would leave money moved without a receipt. `evm_mine` waits for a block under way.
 */
export async function takeSnapshot(rpcUrl: string): Promise<Buffer> {
  try {
    await callChain(rpcUrl, 'evm_setAutomine', false);
    await callChain(rpcUrl, 'evm_mine');
    const hex = await callChain<string>(rpcUrl, 'anvil_dumpState');
    return Buffer.from(hex.slice(2), 'hex');
  } finally {
    await callChain(rpcUrl, 'evm_setAutomine', true);
    await minePending(rpcUrl);
  }
}

/**
 * Mines what waits. Automining alone forgets transactions that came while it was off, and now and then one of many that
 * come at once. Returns the number of the latest block.
 */
export async function minePending(rpcUrl: string): Promise<number> {
  const [pool, blockNumber] = await callChainBatch(rpcUrl, [['txpool_status'], ['eth_blockNumber']]);
  if (Number((pool as { pending: string }).pending) === 0) return Number(blockNumber);
  await callChain(rpcUrl, 'evm_mine');
  return Number(blockNumber) + 1;
}
