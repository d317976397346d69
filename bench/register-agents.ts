import { identityRegistryByChain, LOCAL_CHAIN_ID, MULTICALL3_ADDRESS } from '@agent-network/chain/addresses';
import { agentHolderAbi, agentHolderBytecode } from '@agent-network/chain/artifacts';
import { callChain } from '@agent-network/chain/chain-rpc-client';
import { identityRegistryAbi } from '@agent-network/chain/identity-registry-abi';
import { multicall3Abi } from '@agent-network/chain/multicall3-abi';
import { encodeFunctionData, type Hex } from 'viem';

const REGISTRY = identityRegistryByChain[LOCAL_CHAIN_ID];
const SENDER: Hex = '0x000000000000000000000000000000000000beef';
/** What a contract answers that takes the token which it is given (ERC-721). */
const TAKES_TOKENS = '0x150b7a02';
/** As many as fit into a block of 30 million gas. */
const IN_A_BLOCK = 150;

/** Registers agents on a local chain, all of one contract, in blocks that are full. */
export async function registerAgents(rpcUrl: string, count: number): Promise<void> {
  await callChain(rpcUrl, 'anvil_impersonateAccount', SENDER);
  const { contractAddress: holder } = await send(rpcUrl, undefined, agentHolderBytecode);
  if (!holder) throw new Error('the contract that is to own agents was not made');
  const args = [TAKES_TOKENS, '0x'] as const;
  await send(rpcUrl, holder, encodeFunctionData({ abi: agentHolderAbi, functionName: 'prepare', args }));
  for (let made = 0; made < count; made += IN_A_BLOCK) {
    const uris = Array.from({ length: Math.min(IN_A_BLOCK, count - made) }, (_, nth) => uriOf(made + nth));
    await send(rpcUrl, MULTICALL3_ADDRESS, registration(holder, uris));
  }
}

const uriOf = (nth: number) =>
  `https://node.example/agents/0198b7c2-7b1f-7c3a-9c55-${String(nth).padStart(12, '0')}/registration.json`;

function registration(holder: Hex, uris: readonly string[]): Hex {
  const calls = uris.map((uri) => {
    const data = encodeFunctionData({ abi: identityRegistryAbi, functionName: 'register', args: [uri] });
    const callData = encodeFunctionData({ abi: agentHolderAbi, functionName: 'run', args: [REGISTRY, data] });
    return { target: holder, allowFailure: false, callData };
  });
  return encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [calls] });
}

interface Receipt {
  readonly status: Hex;
  readonly contractAddress: Hex | null;
}

async function send(rpcUrl: string, to: Hex | undefined, data: Hex): Promise<Receipt> {
  const transaction = { from: SENDER, ...(to ? { to } : {}), data, gas: '0x1c9c000', gasPrice: '0x0' };
  const hash = await callChain<Hex>(rpcUrl, 'eth_sendTransaction', transaction);
  for (;;) {
    const receipt = await callChain<Receipt | null>(rpcUrl, 'eth_getTransactionReceipt', hash);
    if (receipt?.status === '0x0') throw new Error('a registration was reverted');
    if (receipt) return receipt;
  }
}
