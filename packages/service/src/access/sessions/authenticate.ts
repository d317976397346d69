import { timingSafeEqual } from 'node:crypto';
import { identityTokenPattern } from '@agent-network/contracts/access/access';
import type { HasDb } from '../../db/database.ts';
import { AppError } from '../../lib/app-error.ts';
import { createBoundedCache } from '../../lib/bounded-cache.ts';
import type { HasClock } from '../../lib/clock.ts';
import { hashSecret, parseApiKey } from '../caller/api-key.ts';
import type { KnownCaller } from '../caller/caller.ts';
import { hasEnded } from '../caller/session.ts';
import { sessionIdOf } from '../caller/session-token.ts';
import { findAgentByToken, findApiKey, touchApiKey } from '../limits/access-store.ts';
import { type SessionCaller, sessionCaller } from './session-caller.ts';
import { findSession } from './session-store.ts';

export interface Authenticator {
  /** The caller of an `Authorization` header. Throws UNAUTHORIZED unless it is a valid key or token. */
  authenticate(authorization: string): Promise<KnownCaller>;
  /** The caller of a session cookie; records the use of the session. Throws UNAUTHORIZED unless it is valid. */
  authenticateSession(token: string): Promise<SessionCaller>;
  /** Clears the cache, so that a revocation in this process takes effect at once. */
  forget(): void;
}

export interface HasAuthenticator {
  readonly authenticator: Authenticator;
}

/** Cache time, from the query: a revoked key or an ended session may still work in another process for this long. */
const REMEMBER_MS = 1000;

const refuse = (message: string) => new AppError('UNAUTHORIZED', message);

/** Bearer authentication with API keys and identityTokens, and session cookies: neither is accepted in the other's place. */
export function createAuthenticator(ctx: HasDb & HasClock & { readonly hasLocalAccount: boolean }): Authenticator {
  const remembered = createBoundedCache<{ caller: KnownCaller; expiresAt: Date | null }>(20_000, REMEMBER_MS);
  const rememberedSessions = createBoundedCache<SessionCaller>(20_000, REMEMBER_MS);

  async function byApiKey(key: string): Promise<{ caller: KnownCaller; expiresAt: Date | null }> {
    const id = parseApiKey(key);
    const row = id === null ? undefined : await findApiKey(ctx.db, id);
    if (!row || !timingSafeEqual(row.secretHash, hashSecret(key))) throw refuse('The API key is not valid.');
    if (row.revokedAt) throw refuse('The API key was revoked.');
    if (row.expiresAt && row.expiresAt <= ctx.clock.now()) throw refuse('The API key has expired.');
    await touchApiKey(ctx.db, row.keyId, ctx.clock.now());
    const { secretHash: _, revokedAt: __, expiresAt, perCallMicro, perDayMicro, allowedAgents, ...caller } = row;
    const limits = { perCallMicro, perDayMicro, allowedAgents };
    return { caller: { kind: 'account', ...caller, limits, session: null }, expiresAt };
  }

  async function byIdentityToken(token: string): Promise<{ caller: KnownCaller; expiresAt: null }> {
    const row = await findAgentByToken(ctx.db, hashSecret(token));
    if (!row) throw refuse('The identityToken is not valid.');
    return { caller: { kind: 'agent', ...row }, expiresAt: null };
  }

  async function bySessionToken(token: string): Promise<SessionCaller> {
    const id = sessionIdOf(token);
    const now = ctx.clock.now();
    const row = id === null ? undefined : await findSession(ctx.db, id, now);
    if (!row || !timingSafeEqual(row.secretHash, hashSecret(token))) throw refuse('The session is not valid.');
    if (row.revokedAt) throw refuse('The session was ended.');
    if (hasEnded(row, now)) throw refuse('The session has expired.');
    if (row.isLocal && !ctx.hasLocalAccount)
      throw refuse('The session was begun without a wallet; this node no longer allows that.');
    const lastSeenAt = (await touchApiKey(ctx.db, row.keyId, now)) ? now : row.lastSeenAt;
    return sessionCaller({ ...row, lastSeenAt });
  }

  return {
    async authenticateSession(token) {
      let known = rememberedSessions.get(token);
      if (!known) {
        const start = performance.now();
        known = await bySessionToken(token);
        rememberedSessions.set(token, known, { start });
      }
      if (hasEnded(known.session, ctx.clock.now())) throw refuse('The session has expired.');
      return known;
    },
    async authenticate(authorization) {
      const credential = /^Bearer ([\x21-\x7e]{1,200})$/i.exec(authorization)?.[1];
      if (!credential) throw refuse('Send "Authorization: Bearer <API key>".');
      let known = remembered.get(credential);
      if (!known) {
        const start = performance.now();
        known = await (identityTokenPattern.test(credential) ? byIdentityToken(credential) : byApiKey(credential));
        remembered.set(credential, known, { start });
      }
      if (known.expiresAt && known.expiresAt <= ctx.clock.now()) throw refuse('The API key has expired.');
      return known.caller;
    },
    forget() {
      remembered.clear();
      rememberedSessions.clear();
    },
  };
}
