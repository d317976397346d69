import { identityRegistryByChain } from '@agent-network/chain/addresses';
import { identityRegistryAbi } from '@agent-network/chain/identity-registry-abi';
import { createPublicClient, type Hex, http } from 'viem';
import { baseSepolia } from 'viem/chains';

const contract = { address: identityRegistryByChain[84_532], abi: identityRegistryAbi } as const;

/** Reads the registry as anyone can, with the published ABI and without this project's code. */
export function stockReader(rpcUrl: string) {
  const client = createPublicClient({ chain: baseSepolia, transport: http(rpcUrl) });
  const args = (tokenId: string) => [BigInt(tokenId)] as const;
  return {
    ownerOf: (tokenId: string) => client.readContract({ ...contract, functionName: 'ownerOf', args: args(tokenId) }),
    tokenUri: (tokenId: string) => client.readContract({ ...contract, functionName: 'tokenURI', args: args(tokenId) }),
    walletOf: (tokenId: string) =>
      client.readContract({ ...contract, functionName: 'getAgentWallet', args: args(tokenId) }),
    metadataOf: async (tokenId: string, key: string) => {
      const read = { ...contract, functionName: 'getMetadata', args: [BigInt(tokenId), key] } as const;
      return Buffer.from((await client.readContract(read)).slice(2), 'hex').toString();
    },
    countOf: (owner: string) =>
      client.readContract({ ...contract, functionName: 'balanceOf', args: [owner as Hex] }).then(Number),
    /** The file that a token points to, as it is served. */
    // biome-ignore lint/suspicious/noExplicitAny: tests look into it
    async fileOf(tokenId: string): Promise<any> {
      const uri = await client.readContract({ ...contract, functionName: 'tokenURI', args: args(tokenId) });
      return (await fetch(uri)).json();
    },
    nonceOf: (address: string) => client.getTransactionCount({ address: address as Hex }),
  };
}
