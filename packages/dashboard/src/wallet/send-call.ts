import { numberToHex } from 'viem/utils';
import { askWallet, connectWallet } from './ask-wallet.ts';
import type { Eip1193Provider } from './injected-wallets.ts';

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
    throw new Error(`The wallet shows ${address}. Choose this account in it: ${from}.`);
  await askWallet(provider, 'wallet_switchEthereumChain', [{ chainId: numberToHex(chainId) }]);
  return String(await askWallet(provider, 'eth_sendTransaction', [{ from: address, to, data }]));
}
