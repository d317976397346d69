import { numberToHex } from 'viem/utils';
import type { Eip1193Provider } from './injected-wallets.ts';
import { walletError } from './wallet-error.ts';

const UNKNOWN_CHAIN = 4902;

/** Has the wallet work on a chain: it signs payments for the one that it is on only. */
export async function switchChain(provider: Eip1193Provider, chainId: number): Promise<void> {
  try {
    if (Number(await provider.request({ method: 'eth_chainId' })) === chainId) return;
    const params = [{ chainId: numberToHex(chainId) }];
    await provider.request({ method: 'wallet_switchEthereumChain', params });
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code === UNKNOWN_CHAIN)
      throw new Error(`The wallet does not know chain ${chainId}. Add it to the wallet, then try again.`);
    throw walletError(error);
  }
}
