import type { Endpoint } from '@agent-network/contracts/endpoint';
import type { Caller } from '../../accounts/caller.ts';
import {
  type CountedClass,
  type CountedLimit,
  type LimitState,
  limitsOf,
  openingLimit,
  payerLimit,
} from '../../accounts/limits/rate-limit.ts';
import { AppError } from '../../lib/app-error.ts';
import type { HttpContext } from './http-context.ts';

const HOUR_S = 3600;

export interface CountedCall {
  /** Undoes the count of the invocations, once; the call itself stays counted. */
  uncount(): Promise<void>;
  /** Keeps the call counted, whatever its outcome. */
  keep(): void;
  /** Counts further invocations that the one call makes. Throws RATE_LIMITED. */
  countMore(count: number): Promise<void>;
  /** Counts a call without an API key, once, as one of the paying wallet; and an opened account by network address. Throws RATE_LIMITED. */
  countPayer(wallet: string, opensAccount: boolean): Promise<void>;
}

export interface CallToCount {
  readonly caller: Caller;
  readonly row: Pick<Endpoint, 'limit' | 'method' | 'auth'>;
  /** Network address of the caller. */
  readonly address: () => string;
}

/**
 * Counts a call against its limits, all at once. Throws RATE_LIMITED, with headers in `headersOut`, when one is used up: those behind it
 * count nothing.
 */
export const countCall = (ctx: CountContext, call: CallToCount, headersOut: Headers): Promise<CountedCall> =>
  countAgainst(ctx, call, limitsOf(ctx, call.caller, call.row, call.address), headersOut);

/** Counts a call inside a request that already counts as `api`: against the other limits of its endpoint. */
export const countInside = (ctx: CountContext, call: CallToCount, headersOut: Headers): Promise<CountedCall> =>
  countAgainst(ctx, call, limitsOf(ctx, call.caller, call.row, call.address).slice(1), headersOut);

async function countAgainst(
  ctx: CountContext,
  { row, address }: CallToCount,
  limits: readonly CountedLimit[],
  headersOut: Headers,
): Promise<CountedCall> {
  const states = await Promise.all(limits.map((each) => take(ctx, each)));
  for (const [index, { limitClass }] of limits.entries()) {
    const state = states[index] as LimitState;
    Object.assign(headersOut, toHeaders(state, limitClass));
    if (state.isAllowed) continue;
    await giveBack(ctx, limits.slice(index + 1), states.slice(index + 1));
    throw used(ctx, state, limitClass, headersOut);
  }
  const last = limits.length - 1;
  const invocations = limits[last]?.limitClass === 'invocations' ? (limits[last] as CountedLimit) : null;
  if (invocations) return countedInvocation(ctx, invocations, states[last] as LimitState, headersOut);
  return row.limit === 'invocations' ? countedPayer(ctx, address, headersOut) : uncounted;
}

type CountContext = Pick<HttpContext, 'rateLimiter' | 'planLimits' | 'signInsPerHour' | 'keylessPerHour' | 'clock'>;
type Headers = Record<string, string>;

const take = (ctx: CountContext, { subject, limitClass, limit }: CountedLimit): Promise<LimitState> =>
  ctx.rateLimiter.take(subject, limitClass, limit);

async function giveBack(
  ctx: CountContext,
  limits: readonly CountedLimit[],
  states: readonly LimitState[],
): Promise<void> {
  const returning = limits.map(({ subject, limitClass }, index) => {
    const state = states[index] as LimitState;
    return state.isAllowed ? ctx.rateLimiter.giveBack(subject, limitClass, state) : undefined;
  });
  await Promise.all(returning);
}

const nothing = async () => undefined;

/** A call that makes no invocation. */
const uncounted: CountedCall = { uncount: nothing, keep: () => undefined, countMore: nothing, countPayer: nothing };

/** A call without an API key, counted when a wallet with a valid payment makes it an invocation. */
function countedPayer(ctx: CountContext, address: () => string, headersOut: Headers): CountedCall {
  let taken: { readonly limit: CountedLimit; readonly state: LimitState } | null = null;
  let isKept = false;
  const takeOne = async (limit: CountedLimit) => {
    const state = await take(ctx, limit);
    // That of the limit before would name the wrong one.
    delete headersOut['x-ratelimit-type'];
    Object.assign(headersOut, toHeaders(state, limit.limitClass));
    if (!state.isAllowed) throw used(ctx, state, limit.limitClass, headersOut);
    return state;
  };
  return {
    countMore: nothing,
    async countPayer(wallet, opensAccount) {
      if (taken) return;
      const limit = payerLimit(ctx, wallet);
      taken = { limit, state: await takeOne(limit) };
      // Stays counted, as a sign-in does: the account stays.
      if (opensAccount) await takeOne(openingLimit(ctx, address()));
      Object.assign(headersOut, toHeaders(taken.state, limit.limitClass));
    },
    keep() {
      isKept = true;
    },
    async uncount() {
      if (isKept) return;
      const undone = taken;
      taken = null;
      if (undone) await giveBack(ctx, [undone.limit], [undone.state]);
    },
  };
}

function countedInvocation(
  ctx: CountContext,
  invocations: CountedLimit,
  first: LimitState,
  headersOut: Headers,
): CountedCall {
  let taken: LimitState[] = [first];
  return {
    countPayer: nothing,
    keep() {
      taken = [];
    },
    async uncount() {
      const undone = taken;
      taken = [];
      if (undone.length === 0) return;
      const remaining = Number(headersOut['x-ratelimit-remaining']) + undone.length;
      await giveBack(ctx, Array(undone.length).fill(invocations), undone);
      headersOut['x-ratelimit-remaining'] = String(remaining);
    },
    async countMore(count) {
      const states = await Promise.all(Array.from({ length: count }, () => take(ctx, invocations)));
      taken.push(...states.filter(({ isAllowed }) => isAllowed));
      const last = states.find(({ isAllowed }) => !isAllowed) ?? states.at(-1);
      if (!last) return;
      Object.assign(headersOut, toHeaders(last, invocations.limitClass));
      if (!last.isAllowed) throw used(ctx, last, invocations.limitClass, headersOut);
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
  freeCalls: 'free calls',
  endpointTests: 'tests of endpoints',
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
  const message = `The limit of ${state.limit} ${counted[limitClass]} per hour is used up. Repeat the call after Retry-After.`;
  return new AppError('RATE_LIMITED', message, { details: { limit: state.limit, type: limitClass, retryAfterS } });
}
