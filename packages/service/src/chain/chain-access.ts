import { payableChain } from '@agent-network/chain/addresses';
import type { Confirmations } from '../config/networks.ts';
import { type ChainFees, createChainFees } from './chain-fees.ts';
import { assetIdOf, type ChainInfo, type NodeIdentity, type TokenFacts } from './chain-info.ts';
import { createSettlementContract, type SettlementContract } from './channels/settlement-contract-client.ts';
import { createUsdcClient, type UsdcClient } from './usdc-client.ts';

/** Reads and sends on the chain: its facts, the USDC client, the contract of channels, current fees, the depth at which a block counts. */
export interface ChainAccess extends Pick<NodeIdentity, 'chain'> {
  readonly usdc: UsdcClient;
  readonly fees: ChainFees;
  readonly settlementContract: SettlementContract;
  readonly confirmations: Confirmations;
}

interface ChainOptions {
  readonly rpcUrl: string;
  readonly chainId: number;
  /** Default: the network's USDC. */
  readonly token?: string;
  readonly isLocal: boolean;
  /** False: a further network; its ledger accounts contain its asset. */
  readonly isDefault: boolean;
  /** The node's wallet, lower case. */
  readonly wallet: string;
  readonly formerWallets: readonly string[];
  readonly confirmations: Confirmations;
}

/** Connects to the chain and reads the facts about it. Throws when it does not answer, or is not the configured one. */
export async function openChain(options: ChainOptions): Promise<ChainAccess> {
  const { rpcUrl, chainId, wallet, confirmations } = options;
  const known = payableChain(chainId);
  if (!known) throw new Error(`Invariant broken: chain ${chainId} passed the configuration`);
  const token = (options.token ?? known.usdc).toLowerCase();
  const usdc = createUsdcClient({ rpcUrl, token });
  const served = await usdc.chainId().catch((error: unknown) => {
    throw unreachable(rpcUrl, error);
  });
  if (served !== chainId)
    throw new Error(
      `The RPC URL of chain ${chainId} serves chain ${served}: CHAIN_RPC_URL and CHAIN_ID, or NETWORKS, must agree.`,
    );
  const chain = chainInfoOf({ ...options, token }, await usdc.readToken());
  const settlementContract = createSettlementContract({ rpcUrl, chainId, token, wallet });
  return { chain, usdc, settlementContract, fees: createChainFees({ usdc }, chainId), confirmations };
}

type Configured = Pick<ChainOptions, 'chainId' | 'isLocal' | 'isDefault' | 'wallet' | 'formerWallets'>;

/** The facts of a chain: as configured, and as its token says. */
export function chainInfoOf(options: Configured & { readonly token: string }, facts: TokenFacts): ChainInfo {
  const { chainId, isLocal, isDefault, wallet, formerWallets, token } = options;
  const { name: tokenName, version: tokenVersion, domainSeparator } = facts;
  const [caip2, name] = [`eip155:${chainId}`, networkName(chainId)];
  const ledgerAsset = isDefault ? null : assetIdOf({ caip2, token });
  const ofToken = { token, ledgerAsset, tokenName, tokenVersion, domainSeparator };
  return { chainId, isLocal, caip2, name, ...ofToken, wallet, formerWallets };
}

/** The name of a network in x402 version 1, or that others have for it. */
export const networkName = (chainId: number): string => payableChain(chainId)?.name ?? `eip155:${chainId}`;

/** The system's code of an error, which viem and fetch keep some causes down. */
function codeOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : codeOf(error.cause);
}

/** Error that no chain answered at the start. It contains only the host, as providers put their keys into the path. */
export const unreachable = (rpcUrl: string, cause: unknown): Error =>
  new Error(
    `no chain answers at CHAIN_RPC_URL or NETWORKS (${hostsOf(rpcUrl)}: ${codeOf(cause) ?? 'no valid answer'}); start it, or correct the setting`,
    { cause },
  );

const hostsOf = (rpcUrl: string): string =>
  rpcUrl
    .split(' ')
    .map((url) => URL.parse(url)?.host ?? 'no host')
    .join(', ');
