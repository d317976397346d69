import type { LimitClass, PlanLimits } from '../../config/limits.ts';
import type { Store } from '../../store/database.ts';
import type { AccountServices } from '../account-services.ts';
import type { KnownCaller } from '../caller.ts';
import { accountSubject, limitOf } from './rate-limit.ts';
import type { LimitUse } from './rate-limiter.ts';

export type UsageContext = Store & AccountServices & { readonly planLimits: PlanLimits };

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
