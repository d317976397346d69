import type { HasAuthenticator } from '../access/authenticate.ts';
import type { HasKeysInHand } from '../access/keys-in-hand.ts';
import type { HasKeyMode } from '../access/manage-keys.ts';
import type { HasPlanCaps } from '../access/plan-caps.ts';
import type { HasRateLimiter } from '../access/rate-limiter.ts';
import type { HasAgentChecks } from '../agents/check-agents.ts';
import type { HasFacets } from '../agents/count-facets.ts';
import type { HasListing, HasNodeLabel } from '../agents/discover-agents.ts';
import type { PlanLimits } from '../config-limits.ts';
import type { HasCourier } from '../events/courier.ts';
import type { HasLiveEvents } from '../events/live-events.ts';
import type { HasSubjects } from '../events/subjects.ts';
import type { HasChallengeTries } from '../identity/challenge-tries.ts';
import type { HasLocalAccount } from '../identity/local-account.ts';
import type { HasRegistry } from '../identity/registry/registry-info.ts';
import type { HasTokenClient } from '../identity/registry/registry-token-client.ts';
import type { HasRegistryTokens } from '../identity/registry/registry-tokens.ts';
import type { HasRegistryWriter } from '../identity/registry/registry-writer.ts';
import type { HasWalletSignatures } from '../identity/wallet-signature-client.ts';
import type { EndContext } from '../invocations/end-invocations.ts';
import type { InvokeContext } from '../invocations/invoke-agent.ts';
import type { HasLookout } from '../invocations/lookout.ts';
import type { HasMetrics } from '../lib/metrics.ts';
import type { HasRetention } from '../lib/retention.ts';
import type { StatusContext } from '../operator/read-status.ts';
import type { HasBaseUrl } from '../payments/deposit.ts';
import type { HasReserves } from '../payments/read-reserves.ts';
import type { HasSignatureEngine } from '../payments/x402/signature-engine.ts';
import type { HasQueueStanding } from '../queue/queue-standing.ts';
import type { HasDashboard } from './dashboard/dashboard-build.ts';
import type { HasTrustedProxies } from './remote-address.ts';

/** All that answering a request may touch. */
export type HttpContext = InvokeContext &
  EndContext &
  HasAuthenticator &
  HasCourier &
  HasSubjects &
  HasLiveEvents &
  HasKeyMode &
  HasPlanCaps &
  HasKeysInHand &
  HasRateLimiter &
  HasAgentChecks &
  HasListing &
  HasFacets &
  HasLookout &
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
    /** How long a caller that waits for a result is kept waiting. */
    readonly syncWaitMs: number;
    /** Checks every answer against its schema: a breach is an INTERNAL_ERROR. On in tests. */
    readonly checksAnswers: boolean;
    /** Whether the node takes requests: false before its start and once it is stopping. */
    readonly isReady: () => boolean;
  };
