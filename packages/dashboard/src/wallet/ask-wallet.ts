import { getAddress } from 'viem/utils';
import type { Eip1193Provider } from './injected-wallets.ts';
import { walletError } from './wallet-error.ts';

/** A wallet's answer. What it declines or cannot do is thrown in words for who sits in front of it. */
export async function askWallet(
  provider: Eip1193Provider,
  method: string,
  params: readonly unknown[] = [],
): Promise<unknown> {
  try {
    return await provider.request({ method, params });
  } catch (error) {
    throw walletError(error);
  }
}

/** The address that the wallet lets this page use, asking its owner when it has to. */
export async function connectWallet(provider: Eip1193Provider): Promise<`0x${string}`> {
  const [address] = (await askWallet(provider, 'eth_requestAccounts')) as readonly string[];
  if (!address) throw new Error('The wallet has no account for this page.');
  return getAddress(address);
}
