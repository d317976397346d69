import { networkName } from '../app/network-name.ts';
import { askWallet } from './ask-wallet.ts';
import type { Eip1193Provider } from './injected-wallets.ts';

const named = (chainId: number) => `${networkName(chainId)} (chain ${chainId})`;

const chainOf = async (provider: Eip1193Provider): Promise<number> => Number(await askWallet(provider, 'eth_chainId'));

/** Has the wallet go to the chain, asking its owner. Throws what to do when it stays elsewhere. */
export async function requireChain(provider: Eip1193Provider, chainId: number): Promise<void> {
  if ((await chainOf(provider)) === chainId) return;
  const why = await provider
    .request({ method: 'wallet_switchEthereumChain', params: [{ chainId: `0x${chainId.toString(16)}` }] })
    .then(
      () => null,
      (error: { code?: unknown } | null) => error?.code ?? 'unknown',
    );
  const current = await chainOf(provider);
  if (current === chainId) return;
  const wanted = named(chainId);
  throw new Error(
    why === UNKNOWN_CHAIN
      ? `The wallet does not know ${wanted}. Add that network to it, and try again. Nothing was signed.`
      : `The wallet is on ${named(current)}, but this node takes payment on ${wanted}. Switch it there, and try again. Nothing was signed.`,
  );
}

/** EIP-3326: the chain has not been added to the wallet. */
const UNKNOWN_CHAIN = 4902;
