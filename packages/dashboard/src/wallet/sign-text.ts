import { getAddress, toHex } from 'viem/utils';
import type { Eip1193Provider } from './injected-wallets.ts';
import { walletError } from './wallet-error.ts';

async function ask(provider: Eip1193Provider, method: string, params: readonly unknown[] = []): Promise<unknown> {
  try {
    return await provider.request({ method, params });
  } catch (error) {
    throw walletError(error);
  }
}

/** The address that the wallet lets this page use, asking its owner when it has to. */
export async function connectWallet(provider: Eip1193Provider): Promise<`0x${string}`> {
  const [address] = (await ask(provider, 'eth_requestAccounts')) as readonly string[];
  if (!address) throw new Error('The wallet has no account connected to this page.');
  return getAddress(address);
}

/** The signature of a text: EIP-191, or the form of a contract wallet. */
export async function signText(provider: Eip1193Provider, address: string, text: string): Promise<string> {
  return String(await ask(provider, 'personal_sign', [toHex(text), address]));
}

/** Connects the wallet with one account. Throws when the wallet does not let this page use it. */
export async function connectAs(provider: Eip1193Provider, address: string): Promise<void> {
  const offered = (await ask(provider, 'eth_requestAccounts')) as readonly string[];
  if (offered.some((each) => each.toLowerCase() === address.toLowerCase())) return;
  throw new Error(`Switch the wallet to account ${address}, then try again.`);
}
