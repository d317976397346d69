import { MULTICALL3_ADDRESS } from '@agent-network/chain/addresses';
import { multicall3Abi } from '@agent-network/chain/multicall3-abi';
import { decodeFunctionResult, encodeFunctionData, type Hex, type PublicClient, parseAbi } from 'viem';

const contractWalletAbi = parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)']);
/** EIP-1271: what a contract wallet answers to a valid signature, as a word. */
const MAGIC_WORD = `0x1626ba7e${'0'.repeat(56)}`;
const MAX_GAS = 5_000_000n;

/**
 * Whether a contract wallet says that it signed a digest (EIP-1271). Through Multicall3: whatever the contract does in place of an
 * answer is a "no", and not a chain that can't be asked.
 */
export async function hasContractSigned(
  client: PublicClient,
  { address, digest, signature }: { address: Hex; digest: Hex; signature: Hex },
): Promise<boolean> {
  const callData = encodeFunctionData({
    abi: contractWalletAbi,
    functionName: 'isValidSignature',
    args: [digest, signature],
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
