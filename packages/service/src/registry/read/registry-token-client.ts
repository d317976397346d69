import { identityRegistryAbi } from '@agent-network/chain/identity-registry-abi';
import { BaseError, ContractFunctionRevertedError, createPublicClient, type Hex } from 'viem';
import { rpcTransport } from '../../chain/rpc/rpc-transport.ts';
import type { RegistryInfo } from './registry-info.ts';

/** Chain reads about single tokens, as of the newest block. Throws viem's errors when the chain does not answer. */
export interface TokenClient {
  /** Lower case; null: the token does not exist. */
  ownerOf(tokenId: string): Promise<string | null>;
  uriOf(tokenId: string): Promise<string | null>;
}

const TIMEOUT_MS = 10_000;
/** Numbers of tokens have 256 bits. */
const TOKEN_NUMBER_END = 2n ** 256n;

export function createTokenClient({
  rpcUrl,
  registry,
}: {
  readonly registry: RegistryInfo;
  rpcUrl: string;
}): TokenClient {
  const client = createPublicClient({ transport: rpcTransport(rpcUrl, { timeout: TIMEOUT_MS, retryCount: 1 }) });
  const read = async (functionName: 'ownerOf' | 'tokenURI', tokenId: string): Promise<string | null> => {
    const contract = { address: registry.address as Hex, abi: identityRegistryAbi };
    const number = BigInt(tokenId);
    if (number >= TOKEN_NUMBER_END) return null;
    return client.readContract({ ...contract, functionName, args: [number] }).catch((error: unknown) => {
      const isRevert = (cause: unknown) => cause instanceof ContractFunctionRevertedError;
      if (error instanceof BaseError && error.walk(isRevert)) return null;
      throw error;
    });
  };
  return {
    ownerOf: async (tokenId) => (await read('ownerOf', tokenId))?.toLowerCase() ?? null,
    uriOf: (tokenId) => read('tokenURI', tokenId),
  };
}
