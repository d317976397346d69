import { isLoopbackHost } from '../lib/net/guarded-fetch-address.ts';

export interface HasLocalAccount {
  /** The wallet of local mode's own account, in lower case; null where there is none to sign in as. */
  readonly localAccount: string | null;
}

/** Base: USDC there is money. */
const REAL_MONEY_CHAIN_ID = 8453;

/**
 * The wallet that whoever is on this machine may sign in as without holding its key (`wallet`; null outside local mode): nobody's where
 * money is real, or where others reach the node (`isExposed`), or know it by an address that they would reach.
 */
export function localAccountOf(node: {
  wallet: string | null;
  chainId: number;
  baseUrl: string;
  isExposed: boolean;
}): string | null {
  if (node.wallet === null || node.isExposed || node.chainId === REAL_MONEY_CHAIN_ID) return null;
  return isLoopbackHost(new URL(node.baseUrl).hostname) ? node.wallet.toLowerCase() : null;
}
