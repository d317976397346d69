import type { Eip1193Provider } from './injected-wallets.ts';
import { connectWallet } from './sign-text.ts';
import { switchChain } from './switch-chain.ts';
import { walletError } from './wallet-error.ts';

interface ContractCall {
  readonly chainId: number;
  readonly from: string;
  readonly to: string;
  readonly data: string;
}

/** Has the wallet send a call of a contract on a chain, and answers the transaction's hash: sent, not yet confirmed. */
export async function sendCall(provider: Eip1193Provider, { chainId, from, to, data }: ContractCall): Promise<string> {
  const address = await connectWallet(provider);
  if (address.toLowerCase() !== from.toLowerCase())
    throw new Error(`The wallet is using ${address}. Switch it to this account: ${from}.`);
  await switchChain(provider, chainId);
  const params = [{ from: address, to, data }];
  return provider.request({ method: 'eth_sendTransaction', params }).then(String, (error) => {
    throw walletError(error);
  });
}
