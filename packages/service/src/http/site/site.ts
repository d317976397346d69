import type { Gateway } from '@agent-network/contracts/endpoint';
import { formatUsdc } from '@agent-network/contracts/money';
import { nodeName } from '@agent-network/contracts/node-name';
import type { HttpContext } from '../request/http-context.ts';
import { type FrameFacts, ownName, PRODUCT } from './site-frame.ts';

/** Facts of the node that the pages show. */
export interface Site extends FrameFacts {
  /** From the configuration, never from a request: canonical addresses and previews are made of it. */
  readonly baseUrl: string;
  /** Name of the node, or of the product where the node has none. */
  readonly label: string;
  /** Name for search engines and link previews: of node and product. */
  readonly fullName: string;
  readonly chainId: number;
  readonly isLocalChain: boolean;
  /** CAIP-2. */
  readonly network: string;
  /** The contract of the USDC that calls are paid in. */
  readonly usdc: string;
  readonly gateways: ReadonlySet<Gateway>;
  /** The most that the node's faucet pays for a visitor's call, in USDC; null: nothing. */
  readonly testFunds: string | null;
}

export function siteOf(ctx: HttpContext): Site {
  const { baseUrl, nodeLabel, chain, gateways, dashboard, operatorLinks, faucet, faucetSettings } = ctx;
  const node = ownName(nodeLabel);
  return {
    baseUrl,
    node,
    operatorLinks,
    label: nodeName(nodeLabel),
    fullName: node === null ? nodeName(nodeLabel) : `${node} · ${PRODUCT}`,
    chainId: chain.chainId,
    isLocalChain: chain.isLocal,
    network: chain.caip2,
    usdc: chain.token,
    gateways,
    testFunds: faucet && formatUsdc(faucetSettings.amountMicro),
    hasDashboard: dashboard !== null,
  };
}

const names: Readonly<Record<number, string>> = { 8453: 'Base', 84532: 'Base Sepolia, a test network' };

/** Name of the network for people, in a form that fits after "on". */
export const networkName = ({ chainId, isLocalChain }: Pick<Site, 'chainId' | 'isLocalChain'>): string =>
  isLocalChain ? 'a local test chain' : (names[chainId] ?? `chain ${chainId}`);
