import {
  identityRegistryByChain,
  MULTICALL3_ADDRESS,
  reputationRegistryByChain,
  usdcByChain,
} from '@agent-network/chain/addresses';
import { BATCH_EXECUTOR_ADDRESS, CREATE2_FACTORY } from '@agent-network/chain/batch-executor';
import { getAddress, type Hex } from 'viem';
import type { NodeIdentity } from '../../chain/chain-info.ts';

const TOKEN = 'is a USDC contract: money sent there is lost';
const CALLS_FOR_ANYONE = 'is a contract that makes any call for anyone: anyone could take the money';
const SWEEPS_FOR_ANYONE = 'is a router that pays its balance to any caller';
const COLLECTS = 'is an x402 contract: money sent there can be taken by others or is lost';
const KEEPS = 'is a public contract: money sent there is lost';
const REGISTRY = 'is an ERC-8004 registry: money sent there is lost';
const BURNT = 'is an address without a known key';

const rows = (reason: string, ...addresses: string[]) =>
  addresses.map((address) => [address.toLowerCase(), reason] as const);

/** Well-known addresses on Base and Base Sepolia that are not wallets, with the reason that the node sends no money there. */
const reasonByAddress: ReadonlyMap<string, string> = new Map([
  ...rows(TOKEN, ...Object.values(usdcByChain)),
  ...rows(
    CALLS_FOR_ANYONE,
    MULTICALL3_ADDRESS,
    BATCH_EXECUTOR_ADDRESS,
    // Safe's MultiSend and MultiSendCallOnly: 1.3.0 (canonical, EIP-155), 1.4.1 and 1.5.0.
    '0xA238CBeb142c10Ef7Ad8442C6D1f9E89e07e7761',
    '0x998739BFdAAdde7C933B942a68053933098f9EDa',
    '0x40A2aCCbd92BCA938b02010E17A5b8929b49130D',
    '0xA1dabEF33b3B82c7814B6D82A79e50F4AC44102B',
    '0x38869bf66a61cF6bDB996A6aE40D5853Fd43B526',
    '0x9641d764fc13c8B624c04430C7356C1C7C8102e2',
    '0x218543288004CD07832472D464648173c77D7eB7',
    '0xA83c336B20401Af773B6219BA5027174338D1836',
  ),
  ...rows(
    SWEEPS_FOR_ANYONE,
    // Uniswap on Base: SwapRouter02 and three generations of the Universal Router.
    '0x2626664c2603336E57B271c5C0b26F421741e481',
    '0x6fF5693b99212Da76ad316178A184AB56D299b43',
    '0x3fC91A3afd70395Cd496C647d5a6CC9D4B2b7FAD',
    '0xFdf682F51FE81Aa4898F0AE2163d8A55c127fbC7',
  ),
  ...rows(
    COLLECTS,
    // batch-settlement and its collectors (EIP-3009, Permit2); the proxies of `exact` and `upto`; Permit2.
    '0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003',
    '0x4020806089470a89826cB9fB1f4059150b550004',
    '0x4020425FAf3B746C082C2f942b4E5159887B0005',
    '0x402085c248EeA27D92E8b30b2C58ed07f9E20001',
    '0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002',
    '0x000000000022D473030F116dDEE9F6B43aC78BA3',
  ),
  ...rows(REGISTRY, ...Object.values(identityRegistryByChain), ...Object.values(reputationRegistryByChain)),
  ...rows(
    KEEPS,
    // Factories: Arachnid's, Create2Deployer, CreateX, Safe's.
    CREATE2_FACTORY,
    '0x13b0D85CcB8bf860b6b79AF3029fCA081AE9beF2',
    '0xba5Ed099633D3B313e4D5F7bdc1305d3c28ba5Ed',
    '0x914d7Fec6aaC8cd542e72Bca78B30650d45643d7',
    // Safe and SafeL2, the implementations that proxies delegate to.
    '0x69f4D1788e39c87893C980c06EdF4b7f686e2938',
    '0xfb1bffC9d739B8D520DaF37dF666da4C687191EA',
    // ERC-4337: EntryPoint and SenderCreator, 0.6 and 0.7; EIP-4788.
    '0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789',
    '0x7fc98430eAEdbb6070B35B39D798725049088348',
    '0x0000000071727De22E5E9d8BAf0edAc6f37da032',
    '0xEFC2c1444eBCC4Db75e7613d20C6a62fF67A167C',
    '0x000F3df6D732807Ef1319fB7B8bB8522d0Beac02',
  ),
  ...rows(BURNT, '0xdEAD000000000000000042069420694206942069', `0x${'f'.repeat(40)}`, `0x${'e'.repeat(40)}`),
]);

/** Below 2^64: precompiled contracts (0x1 to 0x11, 0x100), and addresses without a known key. */
const LOW = /^0x0{24}/;
/** Predeployed contracts of the OP Stack, and their implementations (`0xc0d3…`). */
const PREDEPLOY = /^0x(4200000000000000000000000000000000000|c0d3c0d3c0d3c0d3c0d3c0d3c0d3c0d3c0d3)/;
/** System addresses of the OP Stack. */
const SYSTEM = /^0xdeaddeaddeaddeaddeaddeaddeaddeaddead/;

/**
 * The reason that money sent to an address is lost or can be taken by anyone; null when none is known. Lower case. An account that gives
 * such an address would lose its withdrawal and blame the node.
 */
export function openAddressReason(address: string): string | null {
  if (/^0x0{40}$/.test(address)) return 'is the zero address';
  if (LOW.test(address)) return 'is a low address: a precompiled contract, or an address without a known key';
  if (PREDEPLOY.test(address) || SYSTEM.test(address))
    return 'is a system contract of the chain: money sent there is lost';
  return reasonByAddress.get(address) ?? null;
}

/** The node's own addresses: its wallet, and the keys that only send transactions. */
export interface KnowsOwn extends Pick<NodeIdentity, 'chain'> {
  readonly senders: readonly { readonly address: string }[];
  readonly registrar: { readonly address: string } | null;
}

/**
 * The reason that USDC must not be sent to an address; null when there is none. USDC sent to the token is lost, USDC sent to a key of the
 * node would be the node's without being booked, and USDC sent to an open contract can be taken by anyone.
 */
export function payeeProblem({ chain, senders, registrar }: KnowsOwn, to: string): string | null {
  const address = to.toLowerCase();
  if (address === chain.token) return 'is the address of the token';
  if (address === chain.wallet) return "is the node's own wallet";
  if ([registrar, ...senders].some((key) => key?.address === address)) return "is one of the node's own keys";
  const reason = openAddressReason(address);
  if (reason) return reason;
  const digits = to.slice(2);
  const isMixed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
  return isMixed && getAddress(address as Hex) !== to ? 'has a wrong checksum (EIP-55): a digit is mistyped' : null;
}
