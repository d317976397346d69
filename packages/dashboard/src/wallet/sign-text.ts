import { toHex } from 'viem/utils';
import { askWallet } from './ask-wallet.ts';
import type { Eip1193Provider } from './injected-wallets.ts';

/** The signature of a text (EIP-191, or of a contract wallet whatever it makes). */
export async function signText(provider: Eip1193Provider, address: string, text: string): Promise<string> {
  return String(await askWallet(provider, 'personal_sign', [toHex(text), address]));
}
