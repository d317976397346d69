import { identityRegistryByChain, LOCAL_CHAIN_ID, MULTICALL3_ADDRESS } from '@agent-network/chain/addresses';
import { agentHolderAbi, agentHolderBytecode } from '@agent-network/chain/artifacts';
import { callChain } from '@agent-network/chain/chain-rpc-client';
import { identityRegistryAbi } from '@agent-network/chain/identity-registry-abi';
import { multicall3Abi } from '@agent-network/chain/multicall3-abi';
import { encodeFunctionData, type Hex } from 'viem';

const REGISTRY = identityRegistryByChain[LOCAL_CHAIN_ID];
const SENDER: Hex = '0x000000000000000000000000000000000000beef';
/** Answer of a contract that accepts the token given to it (ERC-721). */
const TAKES_TOKENS = '0x150b7a02';
const IN_A_TRANSACTION = 150;
/**
 * Transactions in a block. anvil computes the state root for each block, which takes longer the more is registered, so few large blocks are
 * faster.
 */
const TRANSACTIONS_IN_A_BLOCK = 10;
const BLOCK_GAS = '0x3b9aca00';

/** Registers agents on a local chain, all of one contract. */
export async function registerAgents(rpcUrl: string, count: number): Promise<void> {
  await callChain(rpcUrl, 'anvil_impersonateAccount', SENDER);
  const { contractAddress: holder } = await send(rpcUrl, undefined, agentHolderBytecode);
  if (!holder) throw new Error('the contract that is to own agents was not made');
  const args = [TAKES_TOKENS, '0x'] as const;
  await send(rpcUrl, holder, encodeFunctionData({ abi: agentHolderAbi, functionName: 'prepare', args }));
  await callChain(rpcUrl, 'evm_setBlockGasLimit', BLOCK_GAS);
  const starts = Array.from({ length: Math.ceil(count / IN_A_TRANSACTION) }, (_, nth) => nth * IN_A_TRANSACTION);
  for (let sent = 0; sent < starts.length; sent += TRANSACTIONS_IN_A_BLOCK) {
    const calls = starts.slice(sent, sent + TRANSACTIONS_IN_A_BLOCK).map((start) => {
      const uris = Array.from({ length: Math.min(IN_A_TRANSACTION, count - start) }, (_, nth) => uriOf(start + nth));
      return transaction(MULTICALL3_ADDRESS, registration(holder, uris));
    });
    await inOneBlock(rpcUrl, calls);
  }
}

async function inOneBlock(rpcUrl: string, transactions: readonly object[]): Promise<void> {
  await callChain(rpcUrl, 'evm_setAutomine', false);
  const hashes: Hex[] = [];
  for (const each of transactions) hashes.push(await callChain<Hex>(rpcUrl, 'eth_sendTransaction', each));
  await callChain(rpcUrl, 'evm_mine');
  await callChain(rpcUrl, 'evm_setAutomine', true);
  for (const hash of hashes) await receiptOf(rpcUrl, hash);
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

const transaction = (to: Hex | undefined, data: Hex) => ({
  from: SENDER,
  ...(to ? { to } : {}),
  data,
  gas: '0x1c9c000',
  gasPrice: '0x0',
});

const send = async (rpcUrl: string, to: Hex | undefined, data: Hex): Promise<Receipt> =>
  receiptOf(rpcUrl, await callChain<Hex>(rpcUrl, 'eth_sendTransaction', transaction(to, data)));

async function receiptOf(rpcUrl: string, hash: Hex): Promise<Receipt> {
  for (;;) {
    const receipt = await callChain<Receipt | null>(rpcUrl, 'eth_getTransactionReceipt', hash);
    if (receipt?.status === '0x0') throw new Error('a registration was reverted');
    if (receipt) return receipt;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
