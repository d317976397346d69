import type { Endpoint } from '@agent-network/contracts/endpoint';
import type { LimitClass, PlanLimits } from '../../config/limits.ts';
import { networkOf } from '../../lib/net/address-ranges.ts';
import type { Caller, KnownCaller } from '../caller.ts';

/**
 * `pages`: reads by the node's own pages for a signed-in user. `signIns`: calls that open sessions, keys and accounts. `freeCalls`: calls of
 * price 0. `endpointTests`: requests that the node makes to addresses that are not registered.
 */
export type CountedClass = LimitClass | 'pages' | 'signIns' | 'freeCalls' | 'endpointTests';

/** Values of the answer's `X-RateLimit-*` headers. */
export interface LimitState {
  readonly limit: number;
  readonly remaining: number;
  readonly resetS: number;
  readonly isAllowed: boolean;
}

/** One limit that a call counts against. */
export interface CountedLimit {
  readonly subject: string;
  readonly limitClass: CountedClass;
  readonly limit: number;
}

/** Keys, sessions and agents of an account count together: an account may have many of them, but one wallet. */
export const accountSubject = (accountId: string): string => `account:${accountId}`;

/** An IPv4 address, or the /64 of an IPv6 address: a single host has all of it. */
export const addressSubject = (address: string): string => `address:${networkOf(address) ?? address}`;

/** Limit of page reads for any plan: one page view makes a browser send many. */
const PAGE_READS = 10_000;

type CountedRow = Pick<Endpoint, 'limit' | 'method' | 'auth'>;

/** True when a session makes this call to show a page. Changes count by the plan, as with a key. */
const isPageRead = (caller: Caller, { limit, method, auth }: CountedRow): boolean =>
  caller.kind === 'account' && caller.session !== null && limit === 'api' && (method === 'GET' || auth === 'none');

/** The limits that a call counts against, in order; the answer reports the last. */
export function limitsOf(
  { planLimits, signInsPerHour }: { readonly planLimits: PlanLimits; readonly signInsPerHour: number },
  caller: Caller,
  row: CountedRow,
  address: () => string,
): readonly CountedLimit[] {
  const counted = (limitClass: LimitClass): CountedLimit => {
    const subject = caller.kind === 'anonymous' ? addressSubject(caller.address) : accountSubject(caller.accountId);
    return { subject, limitClass, limit: limitOf(planLimits, caller, limitClass) };
  };
  const api = counted('api');
  if (isPageRead(caller, row)) return [{ ...api, limitClass: 'pages', limit: Math.max(api.limit, PAGE_READS) }];
  if (row.limit === 'signIns') return [api, openingLimit({ signInsPerHour }, address())];
  // Without an API key an invocation is counted once its payment has named a wallet: see `payerLimit`.
  return row.limit === 'invocations' && caller.kind !== 'anonymous' ? [api, counted('invocations')] : [api];
}

/** The limit of sessions, keys and accounts that a network address may open. */
export const openingLimit = (
  { signInsPerHour }: { readonly signInsPerHour: number },
  address: string,
): CountedLimit => ({ subject: addressSubject(address), limitClass: 'signIns', limit: signInsPerHour });

/** The limit of calls that a wallet may pay for without an API key. */
export const payerLimit = ({ keylessPerHour }: { readonly keylessPerHour: number }, wallet: string): CountedLimit => ({
  subject: `wallet:${wallet}`,
  limitClass: 'invocations',
  limit: keylessPerHour,
});

/** The plan of an account applies to all callers on its behalf. */
export function limitOf(limits: PlanLimits, caller: Caller | KnownCaller, limitClass: LimitClass): number {
  if (caller.kind === 'anonymous') return limits.anonymous[limitClass];
  return limits[caller.node === 'online' ? 'node' : caller.plan][limitClass];
}

/**
 * Number of calls that a process leases from the shared counter at once. Small limits are leased one by one and are exact; for large ones a
 * process that ends may lose up to a thousandth.
 */
export const leaseSize = (limit: number): number => Math.max(1, Math.floor(limit / 1000));
