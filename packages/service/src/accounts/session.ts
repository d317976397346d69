import { ownScopes, type Scope } from '@agent-network/contracts/access/scopes';
import { HOUR_MS } from '../lib/duration.ts';
import { randomText, SECRET_CHARS } from './api-key.ts';

/** Idle timeout of a session. */
export const IDLE_MS = 12 * HOUR_MS;
/** Maximum life of a session, used or not. */
export const SESSION_MS = 30 * 24 * HOUR_MS;

/** Scopes of a session; plus those of the node when its account has a key with the scope `operator`. */
export const sessionScopes: readonly Scope[] = ownScopes.filter((scope) => scope !== 'payments:withdraw');

/** The times that decide the end of a session. */
export interface SessionTimes {
  readonly createdAt: Date;
  readonly lastSeenAt: Date;
  readonly expiresAt: Date;
}

export const idleEndOf = ({ lastSeenAt }: SessionTimes): Date => new Date(lastSeenAt.getTime() + IDLE_MS);

/** True when a session has expired or idled out. */
export const hasEnded = (times: SessionTimes, now: Date): boolean => times.expiresAt <= now || idleEndOf(times) <= now;

const pattern = /^(ses_[0-9a-z]{26})\.([0-9A-Za-z]{43})$/;

/** The value of a session cookie: the public session id and 256 random bits, stored as a hash only. */
export const newSessionToken = (sessionId: string): string => `${sessionId}.${randomText(SECRET_CHARS)}`;

/** The session id of a well-formed token; null for anything else, API keys included, without a query. */
export const sessionIdOf = (token: string): string | null => pattern.exec(token)?.[1] ?? null;
