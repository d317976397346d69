import { type Address, createPublicClient, createWalletClient, http, type PrivateKeyAccount } from 'viem';
import { baseSepolia } from 'viem/chains';
import { LOCAL_CHAIN_ID, usdcByChain } from '../src/addresses.ts';
import { usdcAbi } from '../src/usdc-abi.ts';

export const USDC = usdcByChain[LOCAL_CHAIN_ID];

export function chainReader(rpcUrl: string) {
  return createPublicClient({ chain: baseSepolia, transport: http(rpcUrl), pollingInterval: 20 });
}

export function chainWriter(rpcUrl: string, account: PrivateKeyAccount) {
  return createWalletClient({ chain: baseSepolia, transport: http(rpcUrl), account });
}

export function usdcBalance(rpcUrl: string, holder: Address): Promise<bigint> {
  return chainReader(rpcUrl).readContract({ address: USDC, abi: usdcAbi, functionName: 'balanceOf', args: [holder] });
}
