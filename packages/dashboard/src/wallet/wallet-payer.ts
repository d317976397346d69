import type { Payer, PaymentHeaders } from '@agent-network/sdk';
import type { Eip1193Provider } from './injected-wallets.ts';
import type { PaidIn } from './paid-in.ts';
import { requireUsdc } from './require-usdc.ts';
import { connectWallet } from './sign-text.ts';
import { switchChain } from './switch-chain.ts';

/** Signs one payment: asked again, it shows the same. */
export interface WalletPayer extends Payer {
  /** The payment headers signed so far; undefined: none yet. */
  signed(): PaymentHeaders | undefined;
}

/**
 * Pays one call from a wallet of this browser, which shows the payment to its owner; never more than `most` (USDC). Throws a readable error
 * when the wallet is on another chain and stays there, or holds less.
 */
export async function walletPayer(provider: Eip1193Provider, paidIn: PaidIn, most: string): Promise<WalletPayer> {
  const address = await connectWallet(provider);
  await switchChain(provider, paidIn.chainId);
  await requireUsdc(provider, address, { usdc: paidIn.usdc, amount: most });
  const { sdkPayer } = await import('./sdk-payer.ts');
  const payer = sdkPayer(provider, address, paidIn, most);
  let payment: PaymentHeaders | undefined;
  return {
    address,
    signed: () => payment,
    async pay(header) {
      payment ??= await payer.pay(header);
      return payment;
    },
  };
}
