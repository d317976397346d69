import { type ChannelOptions, type ChannelPayer, createPayer } from '@agent-network/sdk';
import type { Eip1193Provider } from './injected-wallets.ts';
import type { PaidIn } from './paid-in.ts';
import { signTypedData } from './sign-typed-data.ts';

/** The SDK's payer over a wallet. Loaded when something is first paid: it brings x402 along. */
export const sdkPayer = (
  provider: Eip1193Provider,
  address: `0x${string}`,
  { chainId, usdc }: PaidIn,
  most: string,
  channels?: ChannelOptions,
): ChannelPayer =>
  createPayer({
    signer: { address, signTypedData: (typedData) => signTypedData(provider, address, typedData) },
    maxPerCall: most,
    ...(channels ? { channels } : {}),
    tokens: { [`eip155:${chainId}`]: usdc },
  });
