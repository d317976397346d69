import type { HasOwnerProofs } from '../../accounts/admit-wallet.ts';
import type { HeldKeys } from '../../accounts/idempotency/held-keys.ts';
import type { HasKeyWriter } from '../../accounts/idempotency/key-writer.ts';
import type { Authenticator } from '../../accounts/keys/authenticate.ts';
import type { HasKeyMode } from '../../accounts/keys/manage-keys.ts';
import type { Revocations } from '../../accounts/keys/revocations.ts';
import type { HasPlanCaps } from '../../accounts/limits/plan-caps.ts';
import type { HasRateLimiter } from '../../accounts/limits/rate-limiter.ts';
import type { WalletProofs } from '../../accounts/proofs/prove-wallet.ts';
import type { HasLocalAccount } from '../../accounts/proofs/sign-in.ts';
import type { HasAgentChecks } from '../../agents/health/agent-checks.ts';
import type { HasGateways } from '../../agents/interfaces-of.ts';
import type { HasListing, HasNodeLabel } from '../../agents/search/listing.ts';
import type { InvokeContext } from '../../calls/start/invoke-input.ts';
import type { HasStreamPoller } from '../../calls/stream/stream-poller.ts';
import type { HasReceiptSigner } from '../../chain/keys/node-keys.ts';
import type { SignatureEngine } from '../../chain/keys/signature-engine.ts';
import type { HasNetworks } from '../../chain/networks.ts';
import type { PlanLimits } from '../../config/limits.ts';
import type { HasWebhookDispatcher } from '../../events/deliveries/webhook-dispatcher.ts';
import type { LiveEvents } from '../../events/outbox/live-events.ts';
import type { HasSubjectPages, HasSubjects } from '../../events/outbox/subjects.ts';
import type { Mutex } from '../../lib/concurrency/mutex.ts';
import type { HasTextRecords } from '../../lib/net/outbound-calls.ts';
import type { HasRetention } from '../../lib/retention.ts';
import type { StatusContext } from '../../operator/read-status.ts';
import type { HasTreasuryOwners } from '../../payments/payouts/treasury-owners.ts';
import type { HasClaimSettings } from '../../payments/schemes/batch-settlement/claims/claim-context.ts';
import type { ClaimSimulator } from '../../payments/schemes/batch-settlement/claims/claim-simulator-client.ts';
import type { HasTokenClient } from '../../registry/read/registry-token-client.ts';
import type { RegistryIndex } from '../../registry/read/registry-tokens.ts';
import type { HasRegistryWriter } from '../../registry/write/registry-writer.ts';
import type { DatabaseClock } from '../../store/database-clock.ts';
import type { DatabaseWatch } from '../../store/primary/database-watch.ts';
import type { HasDrain } from '../../store/queue/drain.ts';
import type { HasReplica } from '../../store/replica/replica.ts';
import type { DashboardBuild } from '../site/dashboard-build.ts';
import type { RefusalLog } from './refusal-log.ts';
import type { HasTrustedProxies } from './remote-address.ts';

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
interface NodeHealth extends HasDrain {
  readonly databaseWatch: DatabaseWatch;
  readonly databaseClock: Pick<DatabaseClock, 'offsetS'>;
  /** True once the process is stopping or was asked to drain, so that balancers send no more requests. */
  readonly isDraining: () => boolean;
}

interface NodeState extends StatusContext, NodeHealth, HasRetention, HasNetworks {
  readonly signatureEngine: SignatureEngine;
  /** True while the node takes requests: false before its start is complete and once it is stopping. */
  readonly isReady: () => boolean;
}

interface Answering extends HasKeyWriter, HasReceiptSigner {
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
interface GatewaySettings extends HasGateways {
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
    HasLocalAccount,
    HasTrustedProxies,
    HasKeyMode,
    WalletProofs,
    HasOwnerProofs,
    HasRateLimiter,
    HasPlanCaps,
    DocumentLimits,
    CallLimits,
    HasListing,
    HasReplica,
    HasNodeLabel,
    HasAgentChecks,
    HasTextRecords,
    RegistryIndex,
    HasTokenClient,
    HasRegistryWriter,
    HasTreasuryOwners,
    HasWebhookDispatcher,
    HasSubjects,
    HasSubjectPages,
    HasStreamPoller,
    NodeState,
    Answering,
    HasClaimSettings,
    GatewaySettings {
  readonly claimSimulator: ClaimSimulator;
  readonly refusalLog: RefusalLog;
  readonly liveEvents: LiveEvents;
  readonly revocations: Revocations;
  readonly authenticator: Authenticator;
}
