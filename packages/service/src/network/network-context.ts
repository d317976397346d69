import type { NodeIdentity } from '../chain/chain-info.ts';
import type { Outbound } from '../lib/net/guarded-fetch.ts';
import type { Telemetry } from '../lib/telemetry/telemetry.ts';
import type { RegistryIndex } from '../registry/read/registry-tokens.ts';
import type { Store } from '../store/database.ts';
import type { IgnoredLog } from './ignored-log.ts';

/** The operator's settings for other nodes. */
export interface NetworkRules {
  /** Poll interval of each node's feed. */
  readonly pollMs: number;
  /** Base addresses and token ids that are never listed. */
  readonly refused: readonly string[];
}

export interface NetworkContext extends Store, Telemetry, NodeIdentity, RegistryIndex, Outbound {
  readonly networkRules: NetworkRules;
  readonly ignoredLog: IgnoredLog;
}
