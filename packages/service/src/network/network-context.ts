import type { HasDb } from '../db/database.ts';
import type { HasRegistry } from '../identity/registry/registry-info.ts';
import type { HasRegistryTokens } from '../identity/registry/registry-tokens.ts';
import type { HasClock } from '../lib/clock.ts';
import type { HasGuardedFetch } from '../lib/guarded-fetch.ts';
import type { HasLog } from '../lib/log.ts';
import type { HasMetrics } from '../lib/metrics.ts';
import type { HasBaseUrl } from '../payments/deposit.ts';
import type { HasChain } from '../payments/x402/chain-info.ts';

/** What the operator of this node says about others. */
export interface NetworkRules {
  /** How often each node is asked what changed. */
  readonly pollMs: number;
  /** Base addresses and token ids that are never listed. */
  readonly refused: readonly string[];
}

export interface HasNetworkRules {
  readonly networkRules: NetworkRules;
}

export type NetworkContext = HasDb &
  HasClock &
  HasLog &
  HasMetrics &
  HasGuardedFetch &
  HasRegistry &
  HasRegistryTokens &
  HasBaseUrl &
  HasChain &
  HasNetworkRules;
