import { createPublicClient, erc20Abi, http, parseEventLogs } from 'viem';
import type { Local } from './local.ts';

type Hex = `0x${string}`;

/** Reads that an example makes from the chain itself, so that it need not believe the node. Amounts in micro-USDC. */
export function readChain({ chain }: Local) {
  const client = createPublicClient({ transport: http(chain.rpcUrl) });
  return {
    usdcOf: (address: Hex): Promise<bigint> =>
      client.readContract({ address: chain.usdc, abi: erc20Abi, functionName: 'balanceOf', args: [address] }),

    /** Amount that a successful transaction moved out of a wallet; throws when the transaction is missing or failed. */
    async usdcMovedBy(hash: Hex, from: Hex): Promise<bigint> {
      const receipt = await client.getTransactionReceipt({ hash });
      if (receipt.status !== 'success') throw new Error(`the transaction ${hash} failed`);
      return parseEventLogs({ abi: erc20Abi, eventName: 'Transfer', logs: receipt.logs })
        .filter((log) => log.address.toLowerCase() === chain.usdc.toLowerCase())
        .filter((log) => log.args.from.toLowerCase() === from.toLowerCase())
        .reduce((sum, log) => sum + log.args.value, 0n);
    },
  };
}
