import { payableChain, symbolOf } from '@agent-network/chain/addresses';
import type { AssetName } from '@agent-network/contracts/payments/networks';

/** The chain that this node is paid on, as read at start. */
export interface ChainInfo {
  readonly chainId: number;
  /** A development chain on this machine. It has the chain id of Base Sepolia, and must not be shown as that. */
  readonly isLocal: boolean;
  /** CAIP-2 network name, used by x402 v2: `eip155:8453`. */
  readonly caip2: string;
  /** Network name in x402 v1 and in the payment terms: `base`. */
  readonly name: string;
  /** The token that is taken, lower case. */
  readonly token: string;
  /** CAIP-19 id that the ids of the token's ledger accounts end in; null: it is the node's default asset. */
  readonly ledgerAsset: string | null;
  /** The token's EIP-712 name and version: "USD Coin" on Base, "USDC" on Base Sepolia. */
  readonly tokenName: string;
  readonly tokenVersion: string;
  /** The token's EIP-712 domain separator. */
  readonly domainSeparator: `0x${string}`;
  /** The node's wallet, lower case: receives payments and pays refunds. */
  readonly wallet: string;
  /** Addresses, lower case, that were the node's wallet before. Absent: none. */
  readonly formerWallets?: readonly string[];
  /** Terms of payment channels; absent: the settlement contract was not found, or is not used. */
  readonly channels?: ChannelTerms | null;
  /** The reason for which channels are not offered; absent: they are. */
  readonly channelFault?: string;
}

/** A token's own EIP-712 domain. */
export interface TokenFacts {
  readonly name: string;
  readonly version: string;
  readonly domainSeparator: `0x${string}`;
}

/** Terms of the node for an x402 channel (scheme `batch-settlement`). */
export interface ChannelTerms {
  /** Time from the beginning of a payer's withdrawal to its end, in which vouchers can be claimed. */
  readonly withdrawDelayS: number;
  readonly minDepositMicro: bigint;
  /** True when every 402 of a call offers them; else those to clients that ask. */
  readonly isOfferedToAll?: boolean;
  /** Longest time of a call that a channel pays (`config/call-time.ts`). */
  readonly longestCallS: number;
}

/** Key of payments, transfers and channels: a token on a chain. */
export type AssetKey = Pick<ChainInfo, 'chainId' | 'token'>;

const isUsdc = ({ chainId, token }: AssetKey): boolean => payableChain(chainId)?.usdc.toLowerCase() === token;

/** The token in tables with a chain id: empty for the chain's USDC, as in rows of releases without other tokens. */
export const tokenKey = (asset: AssetKey): string => (isUsdc(asset) ? '' : asset.token);

/** Names of an asset. The name of a network means its USDC. */
export const namesOfAsset = (asset: AssetKey & Pick<ChainInfo, 'caip2' | 'name'>): readonly string[] => [
  assetIdOf(asset),
  ...(isUsdc(asset) ? [asset.caip2, asset.name] : []),
];

/** The name of an asset in metrics and jobs: the CAIP-2 id of the network for its USDC, else the asset's CAIP-19 id. */
export const assetNameOf = (asset: AssetKey & Pick<ChainInfo, 'caip2'>): string =>
  isUsdc(asset) ? asset.caip2 : assetIdOf(asset);

/** CAIP-19 id of a network's token. */
export const assetIdOf = ({ caip2, token }: Pick<ChainInfo, 'caip2' | 'token'>): string => `${caip2}/erc20:${token}`;

/** The names of an asset by its CAIP-19 id. */
export function nameAsset(asset: string): AssetName {
  const [network = '', token = ''] = asset.split('/erc20:', 2);
  return { asset, network, symbol: symbolOf(Number(network.split(':')[1]), token) };
}

/** Names of the network of an asset, which may have been removed from the node; null: the default network, given by `chain`. */
export function networkNamesOf(chain: ChainInfo, ledgerAsset: string | null): Pick<ChainInfo, 'caip2' | 'name'> {
  const caip2 = ledgerAsset?.split('/', 1)[0];
  if (caip2 === undefined) return chain;
  return { caip2, name: payableChain(Number(caip2.split(':')[1]))?.name ?? caip2 };
}

/** The node's wallet, then its former ones. */
export const ownWallets = ({ wallet, formerWallets = [] }: ChainInfo): readonly string[] => [wallet, ...formerWallets];

/** True for the node's wallet and its former ones. The books have their USDC already, so transfers from them are not payments. */
export const isOwnWallet = (chain: ChainInfo, address: string): boolean => ownWallets(chain).includes(address);

/** Identity of this node for wallets and other nodes: its address, and the chain and wallet that it is paid on. */
export interface NodeIdentity {
  readonly chain: ChainInfo;
  /** Address under which others reach this node, without a slash at the end. */
  readonly baseUrl: string;
}
