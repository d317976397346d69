import type { LimitClass, PlanLimits } from '../config.ts';
import type { HasDb } from '../db/database.ts';
import type { HasClock } from '../lib/clock.ts';
import { invariant } from '../lib/invariant.ts';
import type { AccountCaller } from './caller.ts';
import { limitOf, limitSubject } from './rate-limit.ts';
import type { HasRateLimiter, LimitUse } from './rate-limiter.ts';

export type UsageContext = HasDb & HasClock & HasRateLimiter & { readonly planLimits: PlanLimits };

/** What is left of the caller's limits in the hour that runs. */
export async function readLimitUse(
  ctx: UsageContext,
  caller: AccountCaller,
): Promise<{ api: LimitUse; invocations: LimitUse }> {
  const [use] = await readLimitUses(ctx, caller, [limitSubject(caller)]);
  invariant(use !== undefined, 'every subject has its use');
  return use;
}

/** The same of several that have the limits of this caller. */
export async function readLimitUses(
  ctx: UsageContext,
  caller: AccountCaller,
  subjects: readonly string[],
): Promise<{ api: LimitUse; invocations: LimitUse }[]> {
  const look = (limitClass: LimitClass) =>
    ctx.rateLimiter.look(subjects, limitClass, limitOf(ctx.planLimits, caller, limitClass));
  const [api, invocations] = await Promise.all([look('api'), look('invocations')]);
  return api.flatMap((use, index) => {
    const other = invocations[index];
    return other ? [{ api: use, invocations: other }] : [];
  });
}
