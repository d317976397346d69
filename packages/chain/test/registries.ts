import {
  type Abi,
  BaseError,
  ContractFunctionRevertedError,
  type Hex,
  type PrivateKeyAccount,
  parseEventLogs,
  type TransactionReceipt,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { identityRegistryByChain, LOCAL_CHAIN_ID, reputationRegistryByChain } from '../src/addresses.ts';
import { agentWalletDomain, agentWalletTypes, identityRegistryAbi } from '../src/identity-registry-abi.ts';
import { reputationRegistryAbi } from '../src/reputation-registry-abi.ts';
import { chainReader, chainWriter } from './chain-clients.ts';

const IDENTITY_REGISTRY = identityRegistryByChain[LOCAL_CHAIN_ID];

export const ZERO = '0x0000000000000000000000000000000000000000';
export const identity = { address: IDENTITY_REGISTRY, abi: identityRegistryAbi } as const;
export const reputation = { address: reputationRegistryByChain[LOCAL_CHAIN_ID], abi: reputationRegistryAbi } as const;

/** Wallets with ETH for fees. */
export function newWallets<N extends keyof Accounts>(count: N) {
  const accounts = Array.from({ length: count }, () => privateKeyToAccount(generatePrivateKey()));
  return {
    accounts: accounts as unknown as Accounts[N],
    wallets: accounts.map(({ address }) => ({ address, ethWei: 10n ** 18n, usdcMicro: 0n })),
  };
}

type Account = PrivateKeyAccount;
interface Accounts {
  readonly 3: readonly [Account, Account, Account];
  readonly 4: readonly [Account, Account, Account, Account];
}

/** Logs of a registry, in order: the event's name, then its arguments, indexed ones first. */
export function loggedBy(contract: { address: Hex; abi: Abi }, { logs }: TransactionReceipt): unknown[][] {
  const own = logs.filter((log) => log.address === contract.address.toLowerCase());
  return parseEventLogs({ abi: contract.abi, logs: own }).map(({ eventName, args }) => [
    eventName,
    ...Object.entries(args as Record<string, unknown>).flatMap(([name, value]) =>
      name.startsWith('indexed') ? [] : [value],
    ),
  ]);
}

/** Why a call is refused: the contract's words, or its error with the arguments. Throws when the call goes through. */
export async function refusalOf(call: Promise<unknown>): Promise<string> {
  const error = await call.then(
    () => new Error('was not refused'),
    (reason: unknown) => reason,
  );
  const revert = error instanceof BaseError && error.walk((cause) => cause instanceof ContractFunctionRevertedError);
  if (!(revert instanceof ContractFunctionRevertedError)) throw error;
  const { data, reason } = revert;
  if (reason !== undefined) return reason;
  return data ? `${data.errorName}(${data.args ?? ''})` : 'no reason';
}

export type WalletProof = { agentId: bigint; newWallet: Hex; owner: Hex; deadline: bigint };

/** The new wallet's consent in the form of EIP-712. */
export function signWalletProof(signer: PrivateKeyAccount, message: WalletProof, change: object = {}): Promise<Hex> {
  const domain = { ...agentWalletDomain, chainId: LOCAL_CHAIN_ID, verifyingContract: IDENTITY_REGISTRY, ...change };
  return signer.signTypedData({ domain, types: agentWalletTypes, primaryType: 'AgentWalletSet', message });
}

type Registry = typeof identity | typeof reputation;

/** Sends a call of a registry as this account and waits for its block; a revert rejects with the registry's reason. */
export async function callRegistry(
  rpcUrl: string,
  registry: Registry,
  account: PrivateKeyAccount,
  functionName: string,
  ...args: unknown[]
): Promise<TransactionReceipt> {
  const call = { ...registry, functionName, args, account, blockTag: 'pending' };
  const { request } = await chainReader(rpcUrl).simulateContract(call as never);
  const hash = await chainWriter(rpcUrl, account).writeContract(request);
  return chainReader(rpcUrl).waitForTransactionReceipt({ hash });
}

/** Reads from a registry by a function's name. */
export function readRegistry(rpcUrl: string, registry: Registry, functionName: string, ...args: unknown[]) {
  return chainReader(rpcUrl).readContract({ ...registry, functionName, args } as never) as Promise<unknown>;
}

/** The agent that a receipt of `register` is about. */
export const registeredId = ({ logs }: TransactionReceipt): bigint => BigInt(logs[0]?.topics[3] ?? -1);
