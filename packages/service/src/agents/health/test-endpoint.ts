import type { EndpointTest } from '@agent-network/contracts/agents/endpoint-test';
import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import type { AccountServices } from '../../accounts/account-services.ts';
import type { AccountCaller } from '../../accounts/caller.ts';
import { usedUp } from '../../accounts/limits/free-calls.ts';
import { accountSubject } from '../../accounts/limits/rate-limit.ts';
import type { NodeKeys } from '../../chain/keys/node-keys.ts';
import { formatDuration } from '../../lib/duration.ts';
import type { Outbound } from '../../lib/net/guarded-fetch.ts';
import type { Store } from '../../store/database.ts';
import { requireCallable } from '../listing/register-agent.ts';
import { checkUpstream } from './check-upstream.ts';
import { adviceOn } from './offline-reason.ts';
import { newUpstream, openUpstream } from './upstream.ts';

type TestContext = Outbound & Pick<NodeKeys, 'secrets'> & Pick<AccountServices, 'rateLimiter'> & Pick<Store, 'clock'>;

/** Tests per account and hour, on every plan: each makes the node send requests to an unregistered address. */
const TESTS_PER_HOUR = 60;

const advice = { ...adviceOn, answer: 'Look at the log of the server, then test again.' };

/**
 * Checks an endpoint as the health checks of an agent would, and stores nothing. Throws VALIDATION_ERROR for what could not be registered,
 * and RATE_LIMITED.
 */
export async function testEndpoint(
  ctx: TestContext,
  { accountId }: Pick<AccountCaller, 'accountId'>,
  input: EndpointTest,
): Promise<DataOf<Api['testEndpoint']>> {
  requireCallable(ctx, input.endpoint);
  const fields = newUpstream(ctx.secrets, input.endpoint, input);
  const limit = await ctx.rateLimiter.take(accountSubject(accountId), 'endpointTests', TESTS_PER_HOUR);
  if (!limit.isAllowed) throw usedUp(limit, 'endpointTests', ctx.clock.now());
  const startMs = performance.now();
  const { fault } = await checkUpstream(ctx, openUpstream(ctx.secrets, { id: '', ...fields }));
  return {
    callable: fault === null,
    reason: fault?.message ?? null,
    advice: fault && advice[fault.detail.kind],
    status: fault?.detail.status ?? null,
    body: fault?.detail.body ?? null,
    took: formatDuration(performance.now() - startMs),
  };
}
