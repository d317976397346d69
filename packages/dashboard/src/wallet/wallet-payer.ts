import { createPayer, type Payer } from '@agent-network/sdk';
import type { Eip1193Provider } from './injected-wallets.ts';
import { connectWallet } from './sign-text.ts';
import { signTypedData } from './sign-typed-data.ts';
import { switchChain } from './switch-chain.ts';

/** The chain that the node is paid on, and its token. */
export interface PaidIn {
  readonly chainId: number;
  readonly usdc: string;
}

/** Pays what a call asks for from a wallet of this browser, which shows each payment to its owner; nothing above `most` (USDC). */
export async function walletPayer(provider: Eip1193Provider, { chainId, usdc }: PaidIn, most: string): Promise<Payer> {
  const address = await connectWallet(provider);
  await switchChain(provider, chainId);
  return createPayer({
    signer: { address, signTypedData: (typedData) => signTypedData(provider, address, typedData) },
    maxPerCall: most,
    tokens: { [`eip155:${chainId}`]: usdc },
  });
}
