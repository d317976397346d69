import { isLoopbackHost } from '../lib/net/guarded-fetch-address.ts';

export interface HasLocalAccount {
  /** Wallet of local mode's own account, in lower case; null when local sign-in is not available. */
  readonly localAccount: string | null;
}

/** Base, where USDC is real money. */
const REAL_MONEY_CHAIN_ID = 8453;

/**
 * The wallet that anyone on this machine may sign in as without its key (`wallet`; null outside local mode). null where money is real,
 * where others reach the node (`isExposed`), or where its base address is not local.
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
