import { AppError } from '../../lib/app-error.ts';
import { HOUR_MS } from '../../lib/duration.ts';
import { siteOf } from '../../lib/net/address-ranges.ts';
import type { Store } from '../../store/database.ts';
import type { KnownCaller } from '../caller.ts';
import { isUnkeyed, isVisitor } from '../keyless-caller.ts';
import { accountSubject, addressSubject, type CountedLimit, type LimitState } from './rate-limit.ts';
import type { LimitUse, RateLimiter } from './rate-limiter.ts';

/** Calls with price 0. No payment limits them, so they have a rate limit besides those of the plan. */
export interface FreeCalls {
  /**
   * Counts calls against the limit of the account, which all of its keys and agents share, and of the network address, which all accounts
   * that call from it share. Throws RATE_LIMITED, and then counts none. `giveBack`: they were not stored.
   */
  count(caller: KnownCaller, client: string | null, calls: number): Promise<{ giveBack(): Promise<void> }>;
  /** The account's use of its limit in the current hour. */
  look(caller: KnownCaller): Promise<LimitUse>;
}

/**
 * Factor for shared accounts: a node that forwards calls has many callers and counts them itself; visitors of many network addresses share
 * an account.
 */
const SHARED_FACTOR = 10;
/** Visitors of one site, who may have many networks, together. */
const SITE_FACTOR = 4;
const MAX_LIMIT = 2_000_000_000;

const isNode = (caller: KnownCaller): boolean => caller.node === 'online';

const accountLimit = (perHour: number, caller: KnownCaller) => ({
  subject: accountSubject(caller.accountId),
  limitClass: 'freeCalls' as const,
  limit: isNode(caller) || isUnkeyed(caller) ? Math.min(MAX_LIMIT, perHour * SHARED_FACTOR) : perHour,
});

/** The limits that a free call counts against. The address of another node says nothing about who called it. */
function limitsOf(perHour: number, caller: KnownCaller, client: string | null): readonly CountedLimit[] {
  const account = accountLimit(perHour, caller);
  if (client === null || isNode(caller)) return [account];
  const own = { ...account, subject: addressSubject(client), limit: perHour };
  if (!isVisitor(caller)) return [account, own];
  // Their account has no limit: one of them would shut out others who share it.
  const limit = Math.min(MAX_LIMIT, perHour * SITE_FACTOR);
  return [own, { ...own, subject: `site:${siteOf(client) ?? client}`, limit }];
}

/** A process that dies after it counted a call and before it stored it leaves that call counted until its hour ends. */
export function createFreeCalls(ctx: Store & { readonly rateLimiter: RateLimiter }, perHour: number): FreeCalls {
  const { rateLimiter } = ctx;
  type Taken = CountedLimit & { readonly state: LimitState };

  const giveBack = async (taken: readonly Taken[]) => {
    await Promise.all(taken.map(({ subject, limitClass, state }) => rateLimiter.giveBack(subject, limitClass, state)));
  };

  return {
    async count(caller, client, calls) {
      const limits = limitsOf(perHour, caller, client).flatMap((limit) => Array<CountedLimit>(calls).fill(limit));
      const tried = await Promise.all(
        limits.map(async (limit) => ({
          ...limit,
          state: await rateLimiter.take(limit.subject, limit.limitClass, limit.limit),
        })),
      );
      const taken = tried.filter(({ state }) => state.isAllowed);
      const refused = tried.find(({ state }) => !state.isAllowed);
      if (!refused) return { giveBack: () => giveBack(taken) };
      await giveBack(taken);
      throw usedUp(refused.state, 'freeCalls', ctx.clock.now());
    },
    look(caller) {
      const { subject, limitClass, limit } = accountLimit(perHour, caller);
      return rateLimiter.look(subject, limitClass, limit);
    },
  };
}

const counted = { freeCalls: 'free calls', endpointTests: 'tests of endpoints' } as const;

/** Returns the error for a limit that is used up and that not every request counts against. */
export function usedUp({ limit, resetS }: LimitState, type: keyof typeof counted, now: Date): AppError {
  const leftS = resetS - Math.floor(now.getTime() / 1000);
  const retryAfterS = Math.min(HOUR_MS / 1000, Math.max(1, leftS));
  return new AppError(
    'RATE_LIMITED',
    `The limit of ${limit} ${counted[type]} per hour of this account or network address is used up. Repeat the call after Retry-After.`,
    { details: { limit, type, retryAfterS } },
  );
}

/** Starts calls, `calls` of which are free; gives the count back if the start fails. */
export async function countingFree<T>(
  { freeCalls }: { readonly freeCalls: FreeCalls },
  caller: KnownCaller,
  { client, calls }: { readonly client: string | null; readonly calls: number },
  start: () => Promise<T>,
): Promise<T> {
  if (calls === 0) return start();
  const counted = await freeCalls.count(caller, client, calls);
  try {
    return await start();
  } catch (error) {
    // Without the database it stays counted until its hour ends; the first failure is the answer.
    await counted.giveBack().catch(() => undefined);
    throw error;
  }
}
