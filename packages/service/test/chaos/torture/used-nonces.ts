import { callChain } from '@agent-network/chain/chain-rpc-client';
import { keccak256, stringToBytes } from 'viem';

const AUTHORIZATION_USED = keccak256(stringToBytes('AuthorizationUsed(address,bytes32)'));

/** How often each authorization moved money on chain, by `from nonce` in lower case; the chain's own logs say so. */
export async function usedNonces(rpcUrl: string, token: string): Promise<ReadonlyMap<string, number>> {
  const filter = { address: token, fromBlock: '0x0', topics: [AUTHORIZATION_USED] };
  const logs = await callChain<{ topics: string[] }[]>(rpcUrl, 'eth_getLogs', filter);
  const used = new Map<string, number>();
  for (const { topics } of logs) {
    const key = `0x${(topics[1] ?? '').slice(-40)} ${topics[2]}`;
    used.set(key, (used.get(key) ?? 0) + 1);
  }
  return used;
}
