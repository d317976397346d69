import type { Gateway } from '@agent-network/contracts/endpoint';
import type { AccountServices } from '../../accounts/account-services.ts';
import type { HeldKeys } from '../../accounts/idempotency/held-keys.ts';
import type { Authenticator } from '../../accounts/keys/authenticate.ts';
import type { Revocations } from '../../accounts/keys/revocations.ts';
import type { KeySettings } from '../../accounts/limits/plan-caps.ts';
import type { WalletProofs } from '../../accounts/proofs/prove-wallet.ts';
import type { InvokeContext } from '../../calls/start/invoke-input.ts';
import type { NodeKeys } from '../../chain/keys/node-keys.ts';
import type { SignatureEngine } from '../../chain/keys/signature-engine.ts';
import type { OperatorLinks } from '../../config/config.ts';
import type { PlanLimits } from '../../config/limits.ts';
import type { Dispatcher } from '../../events/deliveries/dispatcher.ts';
import type { LiveEvents } from '../../events/outbox/live-events.ts';
import type { Subjects } from '../../events/outbox/subjects.ts';
import type { FileServices } from '../../files/file-services.ts';
import type { Mutex } from '../../lib/concurrency/mutex.ts';
import type { TextRecords } from '../../lib/net/outbound-calls.ts';
import type { Retention } from '../../lib/retention.ts';
import type { ShownSettings } from '../../operator/read-settings.ts';
import type { StatusContext } from '../../operator/read-status.ts';
import type { TestFundsServices } from '../../payments/deposits/test-grant.ts';
import type { TreasuryOwners } from '../../payments/payouts/treasury-owners.ts';
import type { ClaimSimulator } from '../../payments/schemes/batch-settlement/claims/claim-simulator-client.ts';
import type { DatabaseClock } from '../../store/database-clock.ts';
import type { DatabaseWatch } from '../../store/primary/database-watch.ts';
import type { NodeProcess } from '../../store/queue/heartbeat.ts';
import type { Replica } from '../../store/replica/replica.ts';
import type { DashboardBuild } from '../site/dashboard-build.ts';
import type { RefusalLog } from './refusal-log.ts';
import type { ProxySettings } from './remote-address.ts';

interface DocumentLimits {
  readonly documentsPerHour: number;
  readonly documentBytesPerMinute: number;
  readonly answerBytesPerMinute: number;
}

interface CallLimits {
  readonly planLimits: PlanLimits;
  readonly signInsPerHour: number;
  readonly keylessPerHour: number;
}

/** Parts of the process that `/readyz` reports on. */
interface NodeHealth extends NodeProcess {
  readonly databaseWatch: DatabaseWatch;
  readonly databaseClock: Pick<DatabaseClock, 'offsetS'>;
  /** True once the process is stopping or was asked to drain, so that balancers send no more requests. */
  readonly isDraining: () => boolean;
}

interface NodeState extends StatusContext, ShownSettings, NodeHealth {
  readonly retention: Retention;
  readonly signatureEngine: SignatureEngine;
  /** True while the node takes requests: false before its start is complete and once it is stopping. */
  readonly isReady: () => boolean;
}

interface Answering extends AccountServices, TestFundsServices, Pick<NodeKeys, 'receiptSigner'> {
  /** null: this process does not serve the dashboard. */
  readonly dashboard: DashboardBuild | null;
  readonly paymentTurns: Mutex;
  readonly heldKeys: HeldKeys;
  /** Maximum time that a caller waits for a result. */
  readonly syncWaitMs: number;
  /** Validates every answer against its schema: a violation is an INTERNAL_ERROR. On in tests. */
  readonly checksAnswers: boolean;
}

/** Settings of the gateways besides REST. */
interface GatewaySettings {
  /** The enabled gateways, besides REST. */
  readonly gateways: ReadonlySet<Gateway>;
  /** Address of the MCP gateway, and its permitted callers. */
  readonly mcpPlace: {
    readonly baseUrl: string;
    readonly isLoopbackListener: boolean;
    readonly allowedOrigins: readonly string[] | null;
  };
}

/** Dependencies of answering requests. */
export interface HttpContext
  extends InvokeContext,
    ProxySettings,
    KeySettings,
    WalletProofs,
    DocumentLimits,
    CallLimits,
    Subjects,
    NodeState,
    Answering,
    GatewaySettings,
    FileServices {
  readonly replica: Replica;
  /** Spec: `location`. Where agents of this node are at home. */
  readonly nodeLabel: string;
  readonly operatorLinks: OperatorLinks;
  readonly textRecords: TextRecords;
  /** Requests a run now instead of at the next interval. */
  readonly registryWrites: { requestRun(): void };
  readonly treasuryOwners: TreasuryOwners;
  readonly webhookDispatcher: Dispatcher;
  readonly claimSimulator: ClaimSimulator;
  readonly refusalLog: RefusalLog;
  readonly liveEvents: LiveEvents;
  readonly revocations: Revocations;
  readonly authenticator: Authenticator;
}
