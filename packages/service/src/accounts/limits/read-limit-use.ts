import type { LimitClass, PlanLimits } from '../../config/limits.ts';
import type { HasClock } from '../../lib/clock.ts';
import type { HasDb } from '../../store/database.ts';
import type { KnownCaller } from '../caller.ts';
import { accountSubject, limitOf } from './rate-limit.ts';
import type { HasRateLimiter, LimitUse } from './rate-limiter.ts';

export type UsageContext = HasDb & HasClock & HasRateLimiter & { readonly planLimits: PlanLimits };

/** The account's use of its limits in the current hour: all keys, agents and sessions together. */
export async function readLimitUse(
  ctx: UsageContext,
  caller: KnownCaller,
): Promise<{ api: LimitUse; invocations: LimitUse }> {
  const look = (limitClass: LimitClass) =>
    ctx.rateLimiter.look(accountSubject(caller.accountId), limitClass, limitOf(ctx.planLimits, caller, limitClass));
  const [api, invocations] = await Promise.all([look('api'), look('invocations')]);
  return { api, invocations };
}
