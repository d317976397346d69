import { createPayer, type Payer } from '@agent-network/sdk';
import type { Eip1193Provider } from './injected-wallets.ts';
import { typedDataSigner } from './sign-typed-data.ts';

export interface PaymentTerms {
  readonly chainId: number;
  /** The token's contract on that chain. */
  readonly usdc: string;
  /** The most that may be signed away, in USDC. */
  readonly maxPerCall: string;
}

/** A payer over a wallet. Loaded when it is first needed: it brings x402 along. */
export const createWalletPayer = (
  provider: Eip1193Provider,
  address: `0x${string}`,
  { chainId, usdc, maxPerCall }: PaymentTerms,
): Payer =>
  createPayer({
    signer: typedDataSigner(provider, address),
    maxPerCall,
    tokens: { [`eip155:${chainId}`]: usdc },
  });
