import { callChain } from '@agent-network/chain/chain-rpc-client';
import { agentWalletDomain, agentWalletTypes, identityRegistryAbi } from '@agent-network/chain/identity-registry-abi';
import { type EncodeFunctionDataParameters, encodeFunctionData, type Hex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { sendAs } from './chain-actions.ts';
import { REGISTRY } from './registry-world.ts';

type Call = Omit<EncodeFunctionDataParameters<typeof identityRegistryAbi>, 'abi'>;

export const newOwner = (): Hex => privateKeyToAccount(generatePrivateKey()).address.toLowerCase() as Hex;

/** What anybody does with the registry, each in a block of its own. Answers are transactions. */
export function registryActions(rpcUrl: string) {
  const act = (from: string, call: Call) =>
    sendAs(rpcUrl, from, REGISTRY, encodeFunctionData({ abi: identityRegistryAbi, ...call } as never));
  return {
    act,
    /** Answers the id. */
    async register(owner: string, uri: string, metadata: { key: string; value: Hex }[] = []): Promise<bigint> {
      const entries = metadata.map(({ key, value }) => ({ metadataKey: key, metadataValue: value }));
      const hash = await act(owner, { functionName: 'register', args: [uri, entries] });
      const receipt = await callChain<{ logs: { topics: Hex[] }[] }>(rpcUrl, 'eth_getTransactionReceipt', hash);
      return BigInt(receipt.logs[0]?.topics[3] ?? -1);
    },
    transfer: (from: string, to: string, id: bigint) =>
      act(from, { functionName: 'transferFrom', args: [from as Hex, to as Hex, id] }),
    setUri: (owner: string, id: bigint, uri: string) => act(owner, { functionName: 'setAgentURI', args: [id, uri] }),
    setMetadata: (owner: string, id: bigint, key: string, value: Hex) =>
      act(owner, { functionName: 'setMetadata', args: [id, key, value] }),
    unsetWallet: (owner: string, id: bigint) => act(owner, { functionName: 'unsetAgentWallet', args: [id] }),
    /** A new wallet agrees to be paid for a token; answers its address. */
    async setWallet(owner: string, id: bigint): Promise<string> {
      const wallet = privateKeyToAccount(generatePrivateKey());
      const { timestamp } = await callChain<{ timestamp: Hex }>(rpcUrl, 'eth_getBlockByNumber', 'latest', false);
      const deadline = BigInt(timestamp) + 200n;
      const signature = await wallet.signTypedData({
        domain: { ...agentWalletDomain, chainId: 84_532, verifyingContract: REGISTRY as Hex },
        types: agentWalletTypes,
        primaryType: 'AgentWalletSet',
        message: { agentId: id, newWallet: wallet.address, owner: owner as Hex, deadline },
      });
      await act(owner, { functionName: 'setAgentWallet', args: [id, wallet.address, deadline, signature] });
      return wallet.address.toLowerCase();
    },
  };
}

/** Has the transactions of these actions mined together, in this order. */
export async function inOneBlock(rpcUrl: string, actions: readonly (() => Promise<unknown>)[]): Promise<void> {
  const rpc = (...call: [string, ...unknown[]]) => callChain<{ pending: Hex }>(rpcUrl, ...call);
  await rpc('evm_setAutomine', false);
  const done: Promise<unknown>[] = [];
  for (const action of actions) {
    done.push(action());
    while (Number((await rpc('txpool_status')).pending) < done.length)
      await new Promise((resolve) => setImmediate(resolve));
  }
  await rpc('evm_mine');
  await Promise.all(done);
  await rpc('evm_setAutomine', true);
}

/** Anybody registers an entry; answers its token as the API writes it. */
export const registerOnChain = async (rpcUrl: string, owner: string, uri: string): Promise<string> =>
  (await registryActions(rpcUrl).register(owner, uri)).toString();
