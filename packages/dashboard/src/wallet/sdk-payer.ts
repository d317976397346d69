import { type ChannelOptions, type ChannelPayer, createPayer } from '@agent-network/sdk';
import { serializeTypedData } from 'viem/utils';
import type { Eip1193Provider } from './injected-wallets.ts';
import type { PaidIn } from './paid-in.ts';
import { walletError } from './wallet-error.ts';

/** Typed data to sign (EIP-712), as the SDK's payer passes it. */
interface TypedData {
  readonly domain: Record<string, unknown>;
  readonly types: Record<string, unknown>;
  readonly primaryType: string;
  readonly message: Record<string, unknown>;
}

const domainTypes: Readonly<Record<string, string>> = {
  name: 'string',
  version: 'string',
  chainId: 'uint256',
  verifyingContract: 'address',
  salt: 'bytes32',
};

/** The text that `eth_signTypedData_v4` takes: the type of the domain is part of it. */
function typedDataText({ domain, types, primaryType, message }: TypedData): string {
  const ofDomain = Object.keys(domainTypes)
    .filter((name) => domain[name] !== undefined)
    .map((name) => ({ name, type: domainTypes[name] }));
  const all = { EIP712Domain: ofDomain, ...types };
  return serializeTypedData({ domain, types: all, primaryType, message } as Parameters<typeof serializeTypedData>[0]);
}

/** The signature of structured data (EIP-712) by an account of the wallet. */
async function signTypedData(provider: Eip1193Provider, address: string, typedData: TypedData): Promise<`0x${string}`> {
  try {
    const params = [address, typedDataText(typedData)];
    return (await provider.request({ method: 'eth_signTypedData_v4', params })) as `0x${string}`;
  } catch (error) {
    throw walletError(error);
  }
}

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
