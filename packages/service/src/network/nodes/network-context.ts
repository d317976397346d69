import type { NodeIdentity } from '../../chain/chain-info.ts';
import type { Records } from '../../db/records.ts';
import type { Telemetry } from '../../lib/log/telemetry.ts';
import type { HasGuardedFetch } from '../../lib/net/guarded-fetch.ts';
import type { RegistryIndex } from '../../registry/read/registry-tokens.ts';

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

/** Requests to other nodes, within the operator's settings. */
interface NodeRequests extends HasGuardedFetch, HasNetworkRules {}

export interface NetworkContext extends Records, Telemetry, NodeIdentity, RegistryIndex, NodeRequests {}
