import type { LimitClass, PlanLimits } from '../config.ts';
import type { Caller } from './caller.ts';

export const HOUR_MS = 3_600_000;

/** What the answer's `X-RateLimit-*` headers say. */
export interface LimitState {
  readonly limit: number;
  readonly remaining: number;
  readonly resetS: number;
  readonly isAllowed: boolean;
}

export const keySubject = (keyId: string): string => `key:${keyId}`;

/** Who is counted: each key by itself, all sessions of an account together, each agent by itself, everybody else by network address. */
export function limitSubject(caller: Caller): string {
  if (caller.kind === 'account') return caller.session ? `sessions:${caller.accountId}` : keySubject(caller.keyId);
  return caller.kind === 'agent' ? `agent:${caller.agentId}` : `address:${caller.address}`;
}

/** What a person who looks at pages makes a browser ask for, many times over; invocations count by the plan. */
const REQUESTS_OF_SESSIONS = 10_000;

export function limitOf(limits: PlanLimits, caller: Caller, limitClass: LimitClass): number {
  if (caller.kind === 'anonymous') return limits.anonymous[limitClass];
  const isAccount = caller.kind === 'account';
  const limit = limits[isAccount && caller.node === 'online' ? 'node' : caller.plan][limitClass];
  return isAccount && caller.session && limitClass === 'api' ? Math.max(limit, REQUESTS_OF_SESSIONS) : limit;
}

/**
 * How many calls a process takes from the shared counter at once, to spend without asking again. Small limits go one by one and
 * are exact; large ones may strand up to a thousandth per process when a process ends.
 */
export const leaseSize = (limit: number): number => Math.max(1, Math.floor(limit / 1000));
