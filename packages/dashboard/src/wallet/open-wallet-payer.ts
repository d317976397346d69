import type { Payer, PaymentHeaders } from '@agent-network/sdk';
import { connectWallet } from './ask-wallet.ts';
import type { Eip1193Provider } from './injected-wallets.ts';
import { requireChain } from './require-chain.ts';
import { requireUsdc } from './require-usdc.ts';
import type { PaymentTerms } from './wallet-payer.ts';

/** A payer that signs once, whatever it is asked: told again, it shows the same payment. */
export interface WalletPayer extends Payer {
  /** What was signed; undefined: nothing yet. */
  signed(): PaymentHeaders | undefined;
}

/** Readies a wallet to pay for one call: its account, the right chain, enough USDC. Throws in words; nothing is signed before `pay`. */
export async function openWalletPayer(provider: Eip1193Provider, terms: PaymentTerms): Promise<WalletPayer> {
  const address = await connectWallet(provider);
  await requireChain(provider, terms.chainId);
  await requireUsdc(provider, address, { usdc: terms.usdc, amount: terms.maxPerCall });
  const { createWalletPayer } = await import('./wallet-payer.ts');
  const payer = createWalletPayer(provider, address, terms);
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
