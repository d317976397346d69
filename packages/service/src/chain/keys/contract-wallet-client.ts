import { MULTICALL3_ADDRESS } from '@agent-network/chain/addresses';
import { multicall3Abi } from '@agent-network/chain/multicall3-abi';
import { decodeFunctionResult, encodeFunctionData, type Hex, type PublicClient, parseAbi } from 'viem';

const contractWalletAbi = parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)']);
/** The word that an EIP-1271 wallet returns for a valid signature. */
const MAGIC_WORD = `0x1626ba7e${'0'.repeat(56)}`;
const MAX_GAS = 5_000_000n;

interface Asked {
  readonly address: Hex;
  readonly digest: Hex;
  readonly signature: Hex;
  /** Absent: the newest that the RPC node has. */
  readonly blockNumber?: bigint;
}

/**
 * True if a contract wallet accepts the signature of a digest (EIP-1271). Called through Multicall3, so a contract that reverts counts as a
 * "no" and is not mistaken for an unavailable chain.
 */
export async function hasContractSigned(
  client: PublicClient,
  { address, digest, signature, blockNumber }: Asked,
): Promise<boolean> {
  const callData = encodeFunctionData({
    abi: contractWalletAbi,
    functionName: 'isValidSignature',
    args: [digest, signature],
  });
  const { data } = await client.call({
    to: MULTICALL3_ADDRESS as Hex,
    gas: MAX_GAS,
    ...(blockNumber === undefined ? {} : { blockNumber }),
    data: encodeFunctionData({
      abi: multicall3Abi,
      functionName: 'aggregate3',
      args: [[{ target: address, allowFailure: true, callData }]],
    }),
  });
  const [answer] = decodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', data: data ?? '0x' });
  return answer?.success === true && answer.returnData === MAGIC_WORD;
}
