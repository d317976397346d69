import { createPayer, type Payer } from '@agent-network/sdk';
import type { Eip1193Provider } from './injected-wallets.ts';
import { signTypedData } from './sign-typed-data.ts';

/** The chain that the node is paid on, and its token. */
export interface PaidIn {
  readonly chainId: number;
  readonly usdc: string;
}

/** The SDK's payer over a wallet. Loaded when something is first paid: it brings x402 along. */
export const sdkPayer = (
  provider: Eip1193Provider,
  address: `0x${string}`,
  { chainId, usdc }: PaidIn,
  most: string,
): Payer =>
  createPayer({
    signer: { address, signTypedData: (typedData) => signTypedData(provider, address, typedData) },
    maxPerCall: most,
    tokens: { [`eip155:${chainId}`]: usdc },
  });
