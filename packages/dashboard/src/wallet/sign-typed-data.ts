import type { PayerSigner } from '@agent-network/sdk';
import { getTypesForEIP712Domain, serializeTypedData, type TypedData, type TypedDataDomain } from 'viem';
import { askWallet } from './ask-wallet.ts';
import type { Eip1193Provider } from './injected-wallets.ts';

/** Signs typed data (EIP-712) as wallets take it: `eth_signTypedData_v4`, with the types of the domain told. */
export const typedDataSigner = (provider: Eip1193Provider, address: `0x${string}`): PayerSigner => ({
  address,
  async signTypedData({ domain, types, primaryType, message }) {
    const domainType = getTypesForEIP712Domain({ domain: domain as TypedDataDomain });
    const text = serializeTypedData({
      domain,
      primaryType,
      message,
      types: { EIP712Domain: domainType, ...types } as TypedData,
    });
    return (await askWallet(provider, 'eth_signTypedData_v4', [address, text])) as `0x${string}`;
  },
});
