import { BaseError, ExecutionRevertedError, type Hex, type PublicClient, toHex } from 'viem';
import { hasContractSigned } from './contract-wallet-client.ts';
import { type SendAnswer, sendAnswerOf } from './send-answer.ts';

/** What is asked of any chain, whatever the token. `gatherer` shares requests among questions of the same moment. */
export function readsOf(client: PublicClient, gatherer: PublicClient) {
  const findBlock = (block: bigint) =>
    gatherer.request({ method: 'eth_getBlockByNumber', params: [toHex(block), false] });
  return {
    chainId: () => client.getChainId(),
    headBlock: () => client.getBlockNumber({ cacheTime: 0 }),
    /** The chain's own time, in seconds: what it measures windows by, whatever our clock says. */
    headTimeS: async () => (await client.getBlock({ blockTag: 'latest' })).timestamp,
    /** When a block was made, in seconds; null when the chain does not know it. */
    async timeOfS(block: bigint): Promise<bigint | null> {
      const found = await findBlock(block);
      return found ? BigInt(found.timestamp) : null;
    },
    /** Hash of the block that stands at a height now; null above the head. */
    hashAt: async (block: bigint): Promise<string | null> => (await findBlock(block))?.hash ?? null,
    /** ETH of an address, in wei. */
    gasBalanceOf: (address: string) => client.getBalance({ address: address as Hex }),
    transactionCount: (address: string) => client.getTransactionCount({ address: address as Hex }),
    baseFeePerGas: async () => (await client.getBlock({ blockTag: 'latest' })).baseFeePerGas ?? 0n,
    /** Whether an address is a contract, or a key that has a contract act for it (EIP-7702). */
    hasCode: async (address: string) => ((await gatherer.getCode({ address: address as Hex })) ?? '0x') !== '0x',

    /** The gas that a transaction takes as things are now, or why it would be undone. */
    async estimateGas(call: { from: string; to: string; data: Hex }): Promise<bigint | string> {
      try {
        return await client.estimateGas({ account: call.from as Hex, to: call.to as Hex, data: call.data });
      } catch (error) {
        if (error instanceof BaseError && error.walk((cause) => cause instanceof ExecutionRevertedError))
          return error.shortMessage;
        throw error;
      }
    },

    /** Whether a contract wallet says that it signed a digest (EIP-1271), as things are now. */
    hasContractSigned: (address: string, digest: Hex, signature: string) =>
      hasContractSigned(client, { address: address as Hex, digest, signature: signature as Hex }),

    /** Sends raw bytes. Throws when the chain says neither that it has the transaction nor that it has a better one. */
    async send(raw: string): Promise<SendAnswer> {
      try {
        await client.sendRawTransaction({ serializedTransaction: raw as Hex });
        return 'taken';
      } catch (error) {
        const answer = sendAnswerOf(String(error));
        if (answer === null) throw error;
        return answer;
      }
    },
  };
}
