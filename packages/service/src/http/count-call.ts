import type { Endpoint } from '@agent-network/contracts/endpoint';
import type { Caller } from '../access/caller.ts';
import { type LimitState, limitOf, limitSubject } from '../access/rate-limit.ts';
import type { LimitClass } from '../config.ts';
import { AppError } from '../lib/app-error.ts';
import type { HttpContext } from './http-context.ts';

const HOUR_S = 3600;

export interface CountedCall {
  /** Undoes the count of the invocations, once; the call itself stays counted. */
  uncount(): Promise<void>;
  /** Counts further invocations that the one call makes. Throws RATE_LIMITED. */
  countMore(count: number): Promise<void>;
}

/** Counts a call against the caller's limits. Throws RATE_LIMITED, with headers in `headersOut`, when one is used up. */
export async function countCall(
  ctx: Pick<HttpContext, 'rateLimiter' | 'planLimits' | 'clock'>,
  caller: Caller,
  row: Pick<Endpoint, 'limit'>,
  headersOut: Record<string, string>,
): Promise<CountedCall> {
  const subject = limitSubject(caller);
  const take = async (limitClass: LimitClass) => {
    const state = await ctx.rateLimiter.take(subject, limitClass, limitOf(ctx.planLimits, caller, limitClass));
    Object.assign(headersOut, toHeaders(state, limitClass));
    if (!state.isAllowed) throw used(ctx, state, limitClass, headersOut);
    return state;
  };
  await take('api');
  let taken = row.limit === 'invocations' ? [await take('invocations')] : [];
  return {
    async uncount() {
      const undone = taken;
      taken = [];
      for (const state of undone) {
        await ctx.rateLimiter.giveBack(subject, 'invocations', state);
        headersOut['x-ratelimit-remaining'] = String(Number(headersOut['x-ratelimit-remaining']) + 1);
      }
    },
    async countMore(count) {
      for (let i = 0; i < count; i++) taken.push(await take('invocations'));
    },
  };
}

const toHeaders = (state: LimitState, limitClass: LimitClass): Record<string, string> => ({
  'x-ratelimit-limit': String(state.limit),
  'x-ratelimit-remaining': String(state.remaining),
  'x-ratelimit-reset': String(state.resetS),
  ...(limitClass === 'invocations' ? { 'x-ratelimit-type': 'invocations' } : {}),
});

function used(
  ctx: Pick<HttpContext, 'clock'>,
  state: LimitState,
  limitClass: LimitClass,
  headers: Record<string, string>,
) {
  const leftS = state.resetS - Math.floor(ctx.clock.now().getTime() / 1000);
  // Both ends are rounded away from each other, which must not make more than the hour of it.
  const retryAfterS = Math.min(HOUR_S, Math.max(1, leftS));
  headers['ratelimit-policy'] = `"${limitClass}";q=${state.limit};w=${HOUR_S}`;
  headers.ratelimit = `"${limitClass}";r=0;t=${retryAfterS}`;
  return new AppError(
    'RATE_LIMITED',
    `The limit of ${state.limit} ${limitClass === 'api' ? 'requests' : 'invocations'} per hour is used up.`,
    {
      details: { limit: state.limit, type: limitClass, retryAfterS },
    },
  );
}
