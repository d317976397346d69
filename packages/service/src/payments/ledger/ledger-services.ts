import type { LRUCache } from 'lru-cache';
/** Ledger accounts known to this process. They are never closed. */
export interface SeenTreasuries {
  /** Id of the treasury that pays for an account's calls; null when it has none. */
  of(accountId: string): Promise<string | null>;
  /** Payer accounts that exist. */
  readonly payers: LRUCache<string, string>;
}

/** The fee of the node, and the treasuries that are known without a query. */
export interface Ledger {
  /** The node's fee on agents' earnings, in basis points. */
  readonly platformFeeBps: number;
  readonly seenTreasuries: SeenTreasuries;
}
