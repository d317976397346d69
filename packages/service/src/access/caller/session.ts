import { type Scope, scopes } from '@agent-network/contracts/access/scopes';

const HOUR_MS = 3_600_000;
/** A session that nobody uses ends after this. */
export const IDLE_MS = 12 * HOUR_MS;
/** A session ends after this, however much it is used. */
export const SESSION_MS = 30 * 24 * HOUR_MS;

/** What a session may do; the scope `operator` comes along where its account has a key with it. */
export const sessionScopes: readonly Scope[] = scopes.filter(
  (scope) => scope !== 'payments:withdraw' && scope !== 'operator',
);

/** The times that a session lives by. */
export interface SessionTimes {
  readonly createdAt: Date;
  readonly lastSeenAt: Date;
  readonly expiresAt: Date;
}

export const idleEndOf = ({ lastSeenAt }: SessionTimes): Date => new Date(lastSeenAt.getTime() + IDLE_MS);

/** Whether a session has ended by itself. */
export const hasEnded = (times: SessionTimes, now: Date): boolean => times.expiresAt <= now || idleEndOf(times) <= now;
