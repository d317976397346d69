import { MULTICALL3_ADDRESS } from '@agent-network/chain/addresses';
import { agentHolderAbi, agentHolderBytecode } from '@agent-network/chain/artifacts';
import { callChain } from '@agent-network/chain/chain-rpc-client';
import { agentWalletDomain, agentWalletTypes, identityRegistryAbi } from '@agent-network/chain/identity-registry-abi';
import { multicall3Abi } from '@agent-network/chain/multicall3-abi';
import { type EncodeFunctionDataParameters, encodeFunctionData, type Hex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { sendAs } from './chain-actions.ts';
import { REGISTRY } from './registry-world.ts';
import { until } from './until.ts';

type Call = Omit<EncodeFunctionDataParameters<typeof identityRegistryAbi>, 'abi'>;

export const newOwner = (): Hex => privateKeyToAccount(generatePrivateKey()).address.toLowerCase() as Hex;

/** Public actions on the registry, each in its own block. They return transactions. */
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

/** A contract that owns agents. */
export interface Holder {
  readonly address: Hex;
  /** Makes calls of the registry in one transaction, in this order. */
  run(calls: readonly Call[]): Promise<string>;
}

export async function newHolder(rpcUrl: string): Promise<Holder> {
  const deployer = newOwner();
  const from = { from: deployer, data: agentHolderBytecode, gas: '0x1c00000', gasPrice: '0x0' };
  await callChain(rpcUrl, 'anvil_impersonateAccount', deployer);
  const hash = await callChain(rpcUrl, 'eth_sendTransaction', from);
  const receipt = await until(() =>
    callChain<{ contractAddress: Hex } | null>(rpcUrl, 'eth_getTransactionReceipt', hash),
  );
  const address = receipt?.contractAddress ?? '0x';
  const prepare = encodeFunctionData({ abi: agentHolderAbi, functionName: 'prepare', args: ['0x150b7a02', '0x'] });
  await sendAs(rpcUrl, deployer, address, prepare);
  return {
    address,
    run(calls) {
      const all = calls.map((call) => {
        const data = encodeFunctionData({ abi: identityRegistryAbi, ...call } as never);
        const callData = encodeFunctionData({
          abi: agentHolderAbi,
          functionName: 'run',
          args: [REGISTRY as Hex, data],
        });
        return { target: address, allowFailure: false, callData };
      });
      const data = encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [all] });
      return sendAs(rpcUrl, deployer, MULTICALL3_ADDRESS, data);
    },
  };
}

/** Anybody registers an entry; answers its token as the API writes it. */
export const registerOnChain = async (rpcUrl: string, owner: string, uri: string): Promise<string> =>
  (await registryActions(rpcUrl).register(owner, uri)).toString();
