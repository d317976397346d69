import { numberToHex } from 'viem/utils';
import type { Eip1193Provider } from './injected-wallets.ts';
import { walletError } from './wallet-error.ts';

/** EIP-3085: the chain has not been added to the wallet. */
const UNKNOWN_CHAIN = 4902;

/** By number where a local chain may be meant: it has the id of Base Sepolia. */
const named = (chainId: number) => (chainId === 8453 ? 'Base (chain 8453)' : `chain ${chainId}`);

async function chainOf(provider: Eip1193Provider): Promise<number> {
  try {
    return Number(await provider.request({ method: 'eth_chainId' }));
  } catch (error) {
    throw walletError(error);
  }
}

/** Has the wallet work on a chain: it signs payments for the one that it is on only. Throws what to do when it stays elsewhere. */
export async function switchChain(provider: Eip1193Provider, chainId: number): Promise<void> {
  if ((await chainOf(provider)) === chainId) return;
  const params = [{ chainId: numberToHex(chainId) }];
  const refusal = await provider.request({ method: 'wallet_switchEthereumChain', params }).then(
    () => null,
    (error: { code?: unknown } | null) => error,
  );
  const current = await chainOf(provider);
  if (current === chainId) return;
  if (refusal?.code === UNKNOWN_CHAIN)
    throw new Error(
      `The wallet doesn't have ${named(chainId)}. Add it to the wallet, then try again. Nothing was signed.`,
    );
  throw new Error(
    `The wallet is on ${named(current)}, but this node uses ${named(chainId)}. Switch the wallet to it, then try again. Nothing was signed.`,
  );
}
