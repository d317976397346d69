import type { Endpoint } from '@agent-network/contracts/endpoint';
import type { Caller } from '../../access/caller/caller.ts';
import { type CountedClass, type CountedLimit, type LimitState, limitsOf } from '../../access/limits/rate-limit.ts';
import { AppError } from '../../lib/app-error.ts';
import type { HttpContext } from './http-context.ts';

const HOUR_S = 3600;

export interface CountedCall {
  /** Undoes the count of the invocations, once; the call itself stays counted. */
  uncount(): Promise<void>;
  /** Counts further invocations that the one call makes. Throws RATE_LIMITED. */
  countMore(count: number): Promise<void>;
}

export interface CallToCount {
  readonly caller: Caller;
  readonly row: Pick<Endpoint, 'limit' | 'method' | 'auth'>;
  /** Network address of the caller. */
  readonly address: () => string;
}

/** Counts a call against its limits. Throws RATE_LIMITED, with headers in `headersOut`, when one is used up. */
export async function countCall(
  ctx: Pick<HttpContext, 'rateLimiter' | 'planLimits' | 'signInsPerHour' | 'clock'>,
  { caller, row, address }: CallToCount,
  headersOut: Record<string, string>,
): Promise<CountedCall> {
  const limits = limitsOf(ctx, caller, row, address);
  const invocations = limits.find(({ limitClass }) => limitClass === 'invocations');
  const take = async ({ subject, limitClass, limit }: CountedLimit) => {
    const state = await ctx.rateLimiter.take(subject, limitClass, limit);
    Object.assign(headersOut, toHeaders(state, limitClass));
    if (!state.isAllowed) throw used(ctx, state, limitClass, headersOut);
    return state;
  };
  let taken: LimitState[] = [];
  for (const each of limits) {
    const state = await take(each);
    if (each === invocations) taken.push(state);
  }
  return {
    async uncount() {
      const undone = taken;
      taken = [];
      for (const state of undone) {
        if (invocations) await ctx.rateLimiter.giveBack(invocations.subject, 'invocations', state);
        headersOut['x-ratelimit-remaining'] = String(Number(headersOut['x-ratelimit-remaining']) + 1);
      }
    },
    async countMore(count) {
      for (let i = 0; i < count && invocations; i++) taken.push(await take(invocations));
    },
  };
}

const toHeaders = (state: LimitState, limitClass: CountedClass): Record<string, string> => ({
  'x-ratelimit-limit': String(state.limit),
  'x-ratelimit-remaining': String(state.remaining),
  'x-ratelimit-reset': String(state.resetS),
  ...(limitClass === 'invocations' ? { 'x-ratelimit-type': 'invocations' } : {}),
});

const counted: Readonly<Record<CountedClass, string>> = {
  api: 'requests',
  invocations: 'invocations',
  pages: 'requests of pages',
  signIns: 'requests for signing in from one network address',
};

function used(
  ctx: Pick<HttpContext, 'clock'>,
  state: LimitState,
  limitClass: CountedClass,
  headers: Record<string, string>,
) {
  const leftS = state.resetS - Math.floor(ctx.clock.now().getTime() / 1000);
  // Both ends are rounded outwards; the result must not exceed one hour.
  const retryAfterS = Math.min(HOUR_S, Math.max(1, leftS));
  headers['ratelimit-policy'] = `"${limitClass}";q=${state.limit};w=${HOUR_S}`;
  headers.ratelimit = `"${limitClass}";r=0;t=${retryAfterS}`;
  return new AppError('RATE_LIMITED', `The limit of ${state.limit} ${counted[limitClass]} per hour is used up.`, {
    details: { limit: state.limit, type: limitClass, retryAfterS },
  });
}
