import { MULTICALL3_ADDRESS } from '@agent-network/chain/addresses';
import { multicall3Abi } from '@agent-network/chain/multicall3-abi';
import { usdcAbi } from '@agent-network/chain/usdc-abi';
import { createPublicClient, decodeFunctionResult, encodeFunctionData, type Hex } from 'viem';
import type { Authorization } from './keys/authorization.ts';
import { rpcTransport } from './rpc/rpc-transport.ts';

export interface Block {
  readonly number: bigint;
  readonly hash: string;
}

/** The node's wallet as of one block. Throws viem's errors when the chain does not answer. */
export interface WalletBalances {
  head(): Promise<Block>;
  balanceAt(block: Block): Promise<bigint>;
  /** For each authorization: true if it was used or cancelled by that block. */
  areSpentAt(block: Block, batch: readonly Pick<Authorization, 'from' | 'nonce'>[]): Promise<boolean[]>;
}

const MAX_ASKED = 500;

/** Reads a wallet at a given block, which may be older than the latest. */
export function createWalletBalances(options: { rpcUrl: string; token: string; wallet: string }): WalletBalances {
  const token = options.token as Hex;
  const client = createPublicClient({ transport: rpcTransport(options.rpcUrl, { timeout: 10_000, retryCount: 1 }) });

  async function areSpent(block: Block, batch: readonly Pick<Authorization, 'from' | 'nonce'>[]): Promise<boolean[]> {
    const calls = batch.map(({ from, nonce }) => ({
      target: token,
      allowFailure: false,
      callData: encodeFunctionData({
        abi: usdcAbi,
        functionName: 'authorizationState',
        args: [from as Hex, nonce as Hex],
      }),
    }));
    const { data } = await client.call({
      to: MULTICALL3_ADDRESS as Hex,
      data: encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [calls] }),
      blockNumber: block.number,
    });
    const results = decodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', data: data ?? '0x' });
    return results.map(({ returnData }) => BigInt(returnData) !== 0n);
  }

  return {
    async head() {
      const { number, hash } = await client.getBlock({ blockTag: 'latest' });
      return { number, hash };
    },
    balanceAt: (block) =>
      client.readContract({
        address: token,
        abi: usdcAbi,
        functionName: 'balanceOf',
        args: [options.wallet as Hex],
        blockNumber: block.number,
      }),
    async areSpentAt(block, batch) {
      const spent: boolean[] = [];
      for (let start = 0; start < batch.length; start += MAX_ASKED)
        spent.push(...(await areSpent(block, batch.slice(start, start + MAX_ASKED))));
      return spent;
    },
  };
}
