import { MULTICALL3_ADDRESS } from '@agent-network/chain/addresses';
import { multicall3Abi } from '@agent-network/chain/multicall3-abi';
import {
  createPublicClient,
  decodeFunctionResult,
  encodeFunctionData,
  type Hex,
  hashMessage,
  http,
  parseAbi,
  verifyMessage,
} from 'viem';

export type SignatureMethod = 'eip191' | 'eip1271';

export interface WalletSignatures {
  /** How the wallet signed the text; null when it did not. Throws when only the chain could tell and it can't be asked. */
  judge(signed: { address: string; message: string; signature: string }): Promise<SignatureMethod | null>;
}

export interface HasWalletSignatures {
  readonly walletSignatures: WalletSignatures;
}

const contractWalletAbi = parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)']);
/** EIP-1271: what a contract wallet answers to a valid signature, as a word. */
const MAGIC_WORD = `0x1626ba7e${'0'.repeat(56)}`;
const MAX_GAS = 5_000_000n;
const TIMEOUT_MS = 10_000;

/** Checks signatures of texts: a key's by itself (EIP-191), a contract wallet's by asking it (EIP-1271). */
export function createWalletSignatures(options: { rpcUrl: string; timeoutMs?: number }): WalletSignatures {
  const client = createPublicClient({
    transport: http(options.rpcUrl, { timeout: options.timeoutMs ?? TIMEOUT_MS, retryCount: 1 }),
  });

  /** Through Multicall3: whatever the contract does in place of an answer is a "no", and not a chain that can't be asked. */
  async function askContract(address: Hex, message: string, signature: Hex): Promise<boolean> {
    const callData = encodeFunctionData({
      abi: contractWalletAbi,
      functionName: 'isValidSignature',
      args: [hashMessage(message), signature],
    });
    const { data } = await client.call({
      to: MULTICALL3_ADDRESS as Hex,
      gas: MAX_GAS,
      data: encodeFunctionData({
        abi: multicall3Abi,
        functionName: 'aggregate3',
        args: [[{ target: address, allowFailure: true, callData }]],
      }),
    });
    const [answer] = decodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', data: data ?? '0x' });
    return answer?.success === true && answer.returnData === MAGIC_WORD;
  }

  return {
    async judge({ address, message, signature }) {
      const wallet = { address: address as Hex, message, signature: signature as Hex };
      // It throws on what is no signature of a key at all.
      if (await verifyMessage(wallet).catch(() => false)) return 'eip191';
      return (await askContract(wallet.address, message, wallet.signature)) ? 'eip1271' : null;
    },
  };
}
