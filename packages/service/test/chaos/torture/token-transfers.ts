import { callChain } from '@agent-network/chain/chain-rpc-client';
import { keccak256, pad, stringToBytes } from 'viem';

type Hex = `0x${string}`;

const TRANSFER = keccak256(stringToBytes('Transfer(address,address,uint256)'));

export interface TokenTransfer {
  readonly from: string;
  readonly to: string;
  readonly valueMicro: bigint;
}

/** Every transfer of the token from or to these addresses up to a block, as the chain's logs tell; without one, of any. */
export async function tokenTransfers(
  rpcUrl: string,
  token: string,
  { from, to, toBlock = 'latest' }: { from?: string; to?: string; toBlock?: string },
): Promise<TokenTransfer[]> {
  const topic = (address: string | undefined) => (address === undefined ? null : pad(address.toLowerCase() as Hex));
  const filter = { address: token, fromBlock: '0x0', toBlock, topics: [TRANSFER, topic(from), topic(to)] };
  const logs = await callChain<{ topics: Hex[]; data: Hex }[]>(rpcUrl, 'eth_getLogs', filter);
  const addressIn = (word: Hex | undefined) => `0x${(word ?? '').slice(-40)}`;
  return logs.map(({ topics, data }) => ({
    from: addressIn(topics[1]),
    to: addressIn(topics[2]),
    valueMicro: BigInt(data),
  }));
}
