import type { NodeKeys } from './chain/keys/node-keys.ts';
import { readSignatureEngine } from './chain/signatures/signature-engine.ts';
import type { Config } from './config.ts';
import type { PrimaryGate } from './db/primary/primary-gate.ts';
import type { DashboardBuild } from './http/build/dashboard-build.ts';
import type { Clock } from './lib/clock.ts';
import type { Log } from './lib/log/log.ts';
import type { ProcessSelf } from './queue/process-store.ts';

/** Parts from which a node is constructed: settings, addresses, keys, and replacements by tests. */
export interface ContextParts {
  readonly config: Config;
  readonly databaseUrl: string;
  readonly gate: PrimaryGate;
  readonly chainRpcUrl: string;
  readonly baseUrl: string;
  readonly keys: NodeKeys;
  /** The wallet of local mode's own account; null outside local mode. */
  readonly localWallet: string | null;
  readonly log: Log;
  readonly isReady: () => boolean;
  /** Facts that this process announces to the others, beside the label of the node. */
  readonly self?: Omit<ProcessSelf, 'label'>;
  /** True once the process was told to stop. Default: never. */
  readonly isDraining?: () => boolean;
  /** Default: the time of the database. */
  readonly clock?: Clock;
  /** This machine's clock; default: the system's. */
  readonly ownClock?: Clock;
  readonly checksAnswers?: boolean;
  readonly syncWaitMs?: number;
  readonly maxAgeMs?: number;
  readonly dashboard?: DashboardBuild;
}

/** Settings that use cases name as they are. */
export const settingsOf = (config: Config) => ({
  placeLimits: config.placeLimits,
  retention: config.retention,
  transferDepthBlocks: config.transferDepthBlocks,
  planLimits: config.planLimits,
  planCaps: config.planCaps,
  signInsPerHour: config.signInsPerHour,
  keylessPerHour: config.keylessPerHour,
  faces: config.faces,
  documentsPerHour: config.documentsPerHour,
  documentBytesPerMinute: config.documentBytesPerMinute,
  answerBytesPerMinute: config.answerBytesPerMinute,
  trustedProxies: config.trustedProxies,
  platformFeeBps: config.platformFeeBps,
  paymentLimits: config.paymentLimits,
  newKeyPerCallMicro: config.newKeyPerCallMicro,
  channelClaimSettings: config.channelClaimSettings,
  nodeLabel: config.nodeLabel,
  signatureEngine: readSignatureEngine(),
  keyMode: config.chainId === 8453 ? ('live' as const) : ('test' as const),
});
