import { callChain, callChainBatch, type RpcCall } from '@agent-network/chain/chain-rpc-client';

export interface ChainCosts {
  readonly transactions: number;
  readonly gas: number;
}

interface Receipt {
  readonly gasUsed: string;
  readonly logs: readonly { readonly address: string }[];
}

const BLOCKS_AT_ONCE = 100;

export const blockNumber = async (rpcUrl: string): Promise<number> =>
  Number(await callChain<string>(rpcUrl, 'eth_blockNumber'));

/** Costs of all transactions after this block that changed anything at a contract, from any sender. */
export async function costsAt(rpcUrl: string, contract: string, afterBlock: number): Promise<ChainCosts> {
  const last = await blockNumber(rpcUrl);
  let [transactions, gas] = [0, 0];
  for (let from = afterBlock + 1; from <= last; from += BLOCKS_AT_ONCE) {
    const numbers = Array.from({ length: Math.min(BLOCKS_AT_ONCE, last - from + 1) }, (_, index) => from + index);
    const calls = numbers.map((number): RpcCall => ['eth_getBlockReceipts', `0x${number.toString(16)}`]);
    for (const receipts of (await callChainBatch(rpcUrl, calls)) as Receipt[][])
      for (const { logs, gasUsed } of receipts) {
        if (!logs.some(({ address }) => address.toLowerCase() === contract.toLowerCase())) continue;
        transactions += 1;
        gas += Number(gasUsed);
      }
  }
  return { transactions, gas };
}
