import type { HasOwnerProofs } from '../../access/accounts/admit-wallet.ts';
import type { HasKeyWriter } from '../../access/idempotency/key-writer.ts';
import type { HasKeysInHand } from '../../access/idempotency/keys-in-hand.ts';
import type { HasKeyMode } from '../../access/keys/manage-keys.ts';
import type { HasPlanCaps } from '../../access/limits/plan-caps.ts';
import type { HasRateLimiter } from '../../access/limits/rate-limiter.ts';
import type { HasAuthenticator } from '../../access/sessions/authenticate.ts';
import type { HasKeyWatch } from '../../access/sessions/key-watch.ts';
import type { HasAgentChecks } from '../../agents/health/agent-checks.ts';
import type { HasFaces } from '../../agents/interfaces-of.ts';
import type { HasListing, HasNodeLabel } from '../../agents/search/listing.ts';
import type { HasReceiptSigner } from '../../chain/keys/node-keys.ts';
import type { HasSignatureEngine } from '../../chain/signatures/signature-engine.ts';
import type { PlanLimits } from '../../config-limits.ts';
import type { HasDatabaseClock } from '../../db/database-clock.ts';
import type { HasDatabaseWatch } from '../../db/primary/database-watch.ts';
import type { HasWebhookDispatcher } from '../../events/deliveries/webhook-dispatcher.ts';
import type { HasLiveEvents } from '../../events/outbox/live-events.ts';
import type { HasSubjectPages, HasSubjects } from '../../events/outbox/subjects.ts';
import type { HasLocalAccount } from '../../identity/local-account.ts';
import type { WalletProofs } from '../../identity/prove-wallet.ts';
import type { HasPaymentTurns } from '../../invocations/keyless/invoke-keyless.ts';
import type { InvokeContext } from '../../invocations/start/invoke-input.ts';
import type { HasStreamPoller } from '../../invocations/stream/stream-poller.ts';
import type { HasTextRecords } from '../../lib/net/text-records.ts';
import type { HasRetention } from '../../lib/retention.ts';
import type { StatusContext } from '../../operator/read-status.ts';
import type { HasTreasuryOwners } from '../../payments/payouts/treasury-owners.ts';
import type { HasClaimSettings } from '../../payments/x402/channels/claims/claim-context.ts';
import type { HasClaimSimulator } from '../../payments/x402/channels/claims/claim-simulator-client.ts';
import type { HasDrain } from '../../queue/drain.ts';
import type { HasTokenClient } from '../../registry/read/registry-token-client.ts';
import type { RegistryIndex } from '../../registry/read/registry-tokens.ts';
import type { HasRegistryWriter } from '../../registry/write/registry-writer.ts';
import type { HasReplica } from '../../replica/replica.ts';
import type { HasDashboard } from '../build/dashboard-build.ts';
import type { HasRefusalLog } from './refusal-log.ts';
import type { HasTrustedProxies } from './remote-address.ts';

/** Proofs of wallets, and what they change. */
interface AllProofs extends WalletProofs, HasOwnerProofs {}

interface CallerIdentity extends HasAuthenticator, HasLocalAccount, HasTrustedProxies, HasKeyMode, AllProofs {}

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

interface CallerLimits extends HasRateLimiter, HasRefusalLog, HasPlanCaps, DocumentLimits, CallLimits {}

/** The callers, and their limits. */
interface Callers extends CallerIdentity, CallerLimits {}

interface RegistryEntries extends RegistryIndex, HasTokenClient, HasRegistryWriter, HasTreasuryOwners {}

interface AgentSearch extends HasListing, HasReplica {}

interface EndpointWork extends HasAgentChecks, HasTextRecords {}

interface AgentDirectory extends AgentSearch, HasNodeLabel, EndpointWork, RegistryEntries {}

interface RequestStreams extends HasStreamPoller, HasKeyWatch {}

/** Events as they happen. */
interface EventFeeds extends HasWebhookDispatcher, HasSubjects, HasSubjectPages, HasLiveEvents, RequestStreams {}

interface DatabaseStandings extends HasDatabaseWatch, HasDatabaseClock {}

/** Parts of the process that `/readyz` tells of. */
interface Standings extends DatabaseStandings, HasDrain {
  /** True once the process is about to stop or was asked to drain: it tells balancers to send no more. */
  readonly isDraining: () => boolean;
}

interface NodeState extends StatusContext, Standings, HasSignatureEngine, HasRetention {
  /** True while the node takes requests: false before its start is complete and once it is stopping. */
  readonly isReady: () => boolean;
}

/** Settings of answers, and what they are made from. */
interface KeyedCalls extends HasKeysInHand, HasKeyWriter {}

interface Answering extends KeyedCalls, HasPaymentTurns, HasReceiptSigner, HasDashboard {
  /** Maximum time that a caller waits for a result. */
  readonly syncWaitMs: number;
  /** Validates every answer against its schema: a violation is an INTERNAL_ERROR. On in tests. */
  readonly checksAnswers: boolean;
}

/** Settings of the faces beside REST. */
interface Faces extends HasFaces {
  /** Address of the MCP face, and its permitted callers. */
  readonly mcpPlace: {
    readonly baseUrl: string;
    readonly isLoopbackListener: boolean;
    readonly allowedOrigins: readonly string[] | null;
  };
}

/** Dependencies of channel refunds. */
interface ChannelRefunds extends HasClaimSimulator, HasClaimSettings {}

interface HttpFace extends NodeState, Answering, ChannelRefunds, Faces {}

/** Dependencies of answering requests. */
export interface HttpContext extends InvokeContext, Callers, AgentDirectory, EventFeeds, HttpFace {}
