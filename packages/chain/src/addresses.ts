import type { Address } from 'viem';

/** Chains that the service knows: Base and Base Sepolia (the local chain carries the latter's id). */
export type KnownChainId = 8453 | 84532;

/** Circle's USDC by chain id; on the local chain our test token has the address of Base Sepolia's. */
export const usdcByChain: Record<KnownChainId, Address> = {
  8453: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  84532: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
};

/** A chain that a node can be paid on: Circle's USDC, the name that x402 version 1 or others have for it, whether version 1 knows it, and whether its money is no real one. */
export interface PayableChain {
  readonly usdc: Address;
  readonly name: string;
  readonly isInV1: boolean;
  readonly isTest?: true;
  /** Bounds of fees per unit of gas, in gwei, where the usual ones do not do. */
  readonly feesGwei?: { readonly tip: number; readonly max: number };
  /**
   * The contract that tells the prices of gas (ArbGasInfo), where a transaction's gas includes what its data costs on the chain below: its limit
   * has to leave room for that. Elsewhere gas is what the code uses; Base and Optimism take the fee of the chain below from the balance.
   */
  readonly gasPricesAt?: Address;
}

/** Arbitrum's precompile ArbGasInfo. */
const ARB_GAS_INFO: Address = '0x000000000000000000000000000000000000006C';

/** Validators of Polygon take a tip of at least 25 gwei. */
const POLYGON_FEES = { tip: 30, max: 2000 };

/** Chains that a node can be paid on, by id. The registries are on Base and Base Sepolia. */
const payableChains: Readonly<Record<number, PayableChain>> = {
  8453: { usdc: usdcByChain[8453], name: 'base', isInV1: true },
  84532: { usdc: usdcByChain[84532], name: 'base-sepolia', isInV1: true, isTest: true },
  42161: {
    usdc: '0xaf88d065e77c8cC2239327C5EDb3A432268e5831',
    name: 'arbitrum',
    isInV1: false,
    gasPricesAt: ARB_GAS_INFO,
  },
  421614: {
    usdc: '0x75faf114eafb1BDbe2F0316DF893fd58CE46AA4d',
    name: 'arbitrum-sepolia',
    isInV1: false,
    isTest: true,
    gasPricesAt: ARB_GAS_INFO,
  },
  137: { usdc: '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359', name: 'polygon', isInV1: true, feesGwei: POLYGON_FEES },
  80002: {
    usdc: '0x41E94Eb019C0762f9Bfcf9Fb1E58725BfB0e7582',
    name: 'polygon-amoy',
    isInV1: true,
    isTest: true,
    feesGwei: POLYGON_FEES,
  },
  43114: {
    usdc: '0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E',
    name: 'avalanche',
    isInV1: true,
    feesGwei: { tip: 0.001, max: 500 },
  },
  10: { usdc: '0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85', name: 'optimism', isInV1: false },
};

export const payableChainIds: readonly number[] = Object.keys(payableChains).map(Number);

/** A chain that a node can be paid on; undefined: it can not be. */
export const payableChain = (chainId: number): PayableChain | undefined =>
  Object.hasOwn(payableChains, chainId) ? payableChains[chainId] : undefined;

/** A token that a node can be paid in: worth one US dollar, with 6 decimals and the authorizations of EIP-3009. */
export interface PayableToken {
  readonly chainId: number;
  readonly symbol: string;
  readonly address: Address;
  /** The test token, under another name, on the chain that local mode starts: taken in local mode only. */
  readonly isLocal?: true;
}

/** Tokens besides the USDC of each chain; add a row for a further one. */
const furtherTokens: readonly PayableToken[] = [
  { chainId: 84532, symbol: 'TUSD', address: '0x7e57d0117e57d0117e57d0117e57d0117e57d011', isLocal: true },
];

/** Every token that a node can be paid in; the USDC of a chain is its first. */
export const payableTokens: readonly PayableToken[] = [
  ...payableChainIds.flatMap((chainId) => {
    const address = payableChain(chainId)?.usdc;
    return address ? [{ chainId, symbol: 'USDC', address }] : [];
  }),
  ...furtherTokens,
];

/** The symbol of a token by its address. */
export const symbolOf = (chainId: number, address: string): string =>
  payableTokens.find((each) => each.chainId === chainId && each.address.toLowerCase() === address.toLowerCase())
    ?.symbol ?? 'USDC';

/** The published ERC-8004 identity registries by chain id; on the local chain, the deployed copy has the address of Base Sepolia's. */
export const identityRegistryByChain: Record<KnownChainId, Address> = {
  8453: '0x8004A169FB4a3325136EB29fA0ceB6D2e539a432',
  84532: '0x8004A818BFB912233c491871b3d84c89A494BD9e',
};

/** The published ERC-8004 reputation registries by chain id, and the local copy as above. */
export const reputationRegistryByChain: Record<KnownChainId, Address> = {
  8453: '0x8004BAa17C55a88189AE136b182e5fdA19dE9b63',
  84532: '0x8004B663056A597Dffe9eCcC1965A193B7388713',
};

/** Multicall3 has the same address on every chain that carries it. */
export const MULTICALL3_ADDRESS: Address = '0xcA11bde05977b3631167028862bE2a173976CA11';

/** x402BatchSettlement, the contract of payment channels: the same address on every chain that carries it. */
export const BATCH_SETTLEMENT_ADDRESS: Address = '0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003';

/** ERC3009DepositCollector, which takes the deposits of channels by authorizations: the same address on every chain that carries it. */
export const DEPOSIT_COLLECTOR_ADDRESS: Address = '0x4020806089470a89826cB9fB1f4059150b550004';

/** The chain id of every local chain: Base Sepolia's, so that stock x402 clients pay there unmodified. */
export const LOCAL_CHAIN_ID = 84532;

/** Network names of x402 v1 by chain id. */
export const v1NetworkByChain: Record<KnownChainId, 'base' | 'base-sepolia'> = { 8453: 'base', 84532: 'base-sepolia' };

/** Network ids of x402 v2 (CAIP-2) by chain id. */
export const caip2ByChain: Record<KnownChainId, `eip155:${KnownChainId}`> = {
  8453: 'eip155:8453',
  84532: 'eip155:84532',
};

/** Narrows a configured chain id to one that has a USDC address and network names here. */
export function isKnownChainId(chainId: number): chainId is KnownChainId {
  return Object.hasOwn(usdcByChain, chainId);
}
