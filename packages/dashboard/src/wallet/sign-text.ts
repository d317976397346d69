import { getAddress, toHex } from 'viem/utils';
import type { Eip1193Provider } from './injected-wallets.ts';
import { walletError } from './wallet-error.ts';

/** Throws what the wallet's error means for who sits in front of it. */
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

/** The signature of a text (EIP-191, or of a contract wallet whatever it makes). */
export async function signText(provider: Eip1193Provider, address: string, text: string): Promise<string> {
  return String(await askWallet(provider, 'personal_sign', [toHex(text), address]));
}
