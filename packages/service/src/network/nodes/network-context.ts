import type { HasBaseUrl, HasChain } from '../../chain/chain-info.ts';
import type { HasDb } from '../../db/database.ts';
import type { HasClock } from '../../lib/clock.ts';
import type { HasLog } from '../../lib/log/log.ts';
import type { HasMetrics } from '../../lib/metrics.ts';
import type { HasGuardedFetch } from '../../lib/net/guarded-fetch.ts';
import type { HasRegistry } from '../../registry/read/registry-info.ts';
import type { HasRegistryTokens } from '../../registry/read/registry-tokens.ts';

/** The operator's settings for other nodes. */
export interface NetworkRules {
  /** Poll interval of each node's feed. */
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
