import type { HasKeysInHand } from '../../access/idempotency/keys-in-hand.ts';
import type { HasKeyMode } from '../../access/keys/manage-keys.ts';
import type { HasPlanCaps } from '../../access/limits/plan-caps.ts';
import type { HasRateLimiter } from '../../access/limits/rate-limiter.ts';
import type { HasAuthenticator } from '../../access/sessions/authenticate.ts';
import type { HasAgentChecks } from '../../agents/health/check-agents.ts';
import type { HasFacets } from '../../agents/search/count-facets.ts';
import type { HasListing, HasNodeLabel } from '../../agents/search/discover-agents.ts';
import type { HasBaseUrl } from '../../chain/chain-info.ts';
import type { HasSignatureEngine } from '../../chain/signature-engine.ts';
import type { PlanLimits } from '../../config-limits.ts';
import type { HasWebhookDispatcher } from '../../events/deliveries/webhook-dispatcher.ts';
import type { HasLiveEvents } from '../../events/outbox/live-events.ts';
import type { HasSubjectPages, HasSubjects } from '../../events/outbox/subjects.ts';
import type { HasChallengeTries } from '../../identity/challenges/challenge-tries.ts';
import type { HasLocalAccount } from '../../identity/local-account.ts';
import type { HasWalletSignatures } from '../../identity/wallet-signature-client.ts';
import type { EndContext } from '../../invocations/finish/end-invocations.ts';
import type { InvokeContext } from '../../invocations/start/invoke-agent.ts';
import type { HasStreamPoller } from '../../invocations/stream/stream-poller.ts';
import type { HasMetrics } from '../../lib/metrics.ts';
import type { HasRetention } from '../../lib/retention.ts';
import type { StatusContext } from '../../operator/read-status.ts';
import type { HasReserves } from '../../payments/statements/read-reserves.ts';
import type { HasQueueStanding } from '../../queue/queue-standing.ts';
import type { HasRegistry } from '../../registry/read/registry-info.ts';
import type { HasTokenClient } from '../../registry/read/registry-token-client.ts';
import type { HasRegistryTokens } from '../../registry/read/registry-tokens.ts';
import type { HasRegistryWriter } from '../../registry/write/registry-writer.ts';
import type { HasReplica } from '../../replica/replica.ts';
import type { HasDashboard } from '../build/dashboard-build.ts';
import type { HasTrustedProxies } from './remote-address.ts';

/** Dependencies of answering requests. */
export type HttpContext = InvokeContext &
  EndContext &
  HasAuthenticator &
  HasWebhookDispatcher &
  HasSubjects &
  HasSubjectPages &
  HasLiveEvents &
  HasKeyMode &
  HasPlanCaps &
  HasKeysInHand &
  HasRateLimiter &
  HasAgentChecks &
  HasListing &
  HasFacets &
  HasReplica &
  HasStreamPoller &
  HasNodeLabel &
  HasWalletSignatures &
  HasChallengeTries &
  HasLocalAccount &
  HasBaseUrl &
  HasReserves &
  HasRegistry &
  HasRegistryTokens &
  HasRegistryWriter &
  HasTokenClient &
  HasTrustedProxies &
  HasRetention &
  HasDashboard &
  StatusContext &
  HasQueueStanding &
  HasSignatureEngine &
  HasMetrics & {
    readonly planLimits: PlanLimits;
    readonly signInsPerHour: number;
    readonly documentsPerHour: number;
    readonly documentBytesPerMinute: number;
    /** Maximum time that a caller waits for a result. */
    readonly syncWaitMs: number;
    /** Validates every answer against its schema: a violation is an INTERNAL_ERROR. On in tests. */
    readonly checksAnswers: boolean;
    /** True while the node takes requests: false before its start is complete and once it is stopping. */
    readonly isReady: () => boolean;
  };
