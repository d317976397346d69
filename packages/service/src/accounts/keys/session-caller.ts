import { nodeScopes } from '@agent-network/contracts/access/scopes';
import type { Session } from '@agent-network/contracts/access/sessions';
import type { AccountCaller, SessionFacts } from '../caller.ts';
import { idleEndOf, sessionScopes } from '../session.ts';
import { noLimits } from '../spending-limits.ts';
import type { SessionRow } from './session-store.ts';

/** A caller with a browser session. */
export type SessionCaller = AccountCaller & { readonly session: SessionFacts };

export const isSession = (caller: { readonly kind: string }): caller is SessionCaller =>
  caller.kind === 'account' && (caller as AccountCaller).session !== null;

/** The caller of a valid session. */
export function sessionCaller(row: SessionRow): SessionCaller {
  const { keyId, name, accountId, address, plan, isWalletProven, isSuspended, node } = row;
  const { createdAt, lastSeenAt, expiresAt, userAgent, isLocal } = row;
  return {
    kind: 'account',
    ...{ keyId, name, accountId, address, plan, isWalletProven, isSuspended, node },
    scopes: row.isOperator ? [...sessionScopes, ...nodeScopes] : sessionScopes,
    limits: noLimits,
    budgetId: keyId,
    session: { createdAt, lastSeenAt, expiresAt, userAgent, isLocal },
  };
}

/** A session as shown to its owner. */
export const toSession = ({ keyId, accountId, address, plan, scopes, session }: SessionCaller): Session => ({
  sessionId: keyId,
  ...{ accountId, address, plan, scopes: [...scopes] },
  createdAt: session.createdAt.toISOString(),
  lastSeenAt: session.lastSeenAt.toISOString(),
  expiresAt: session.expiresAt.toISOString(),
  idleExpiresAt: idleEndOf(session).toISOString(),
  userAgent: session.userAgent,
  isLocal: session.isLocal,
});
