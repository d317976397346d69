import { hash, timingSafeEqual } from 'node:crypto';
import { identityTokenPattern } from '@agent-network/contracts/access/access';
import { AppError } from '../../lib/app-error.ts';
import { createBoundedCache } from '../../lib/bounded-cache.ts';
import type { Store } from '../../store/database.ts';
import type { Replica } from '../../store/replica/replica.ts';
import { hashSecret, parseApiKey } from '../api-key.ts';
import type { KnownCaller } from '../caller.ts';
import { touchApiKey } from '../limits/access-store.ts';
import { hasEnded, sessionIdOf } from '../session.ts';
import { createCredentials } from './credentials.ts';
import type { SessionCaller } from './session-caller.ts';

export interface Authenticator {
  /** The caller of an `Authorization` header. Throws UNAUTHORIZED unless it is a valid key or token. */
  authenticate(authorization: string): Promise<KnownCaller>;
  /** The account of an `Authorization` header that was good a while ago; null: none was seen. Names a lane, and gives no right. */
  recentAccountOf(authorization: string): string | null;
  /** The caller of a session cookie; records the use of the session. Throws UNAUTHORIZED unless it is valid. */
  authenticateSession(token: string): Promise<SessionCaller>;
}

/** Good credentials that are remembered by their digest, and for how long. */
const MAX_RECENT = 20_000;
const RECENT_MS = 15 * 60_000;
/** Least time between two notes of one caller's credential: another digest a call would cost as much as checking its key. */
const NOTE_MS = 60_000;
/** Least time between two records of a key's use. */
const TOUCH_MS = 60_000;

const digestOf = (authorization: string) => hash('sha256', authorization, 'base64');

const refuse = (message: string) => new AppError('UNAUTHORIZED', message);

/**
 * Authenticates API keys and identityTokens as bearer tokens, and session cookies; one kind is not accepted as the other. Credentials are
 * cached in memory. Revoking one removes it from every process before the revoking call returns.
 */
export function createAuthenticator(
  ctx: Store & { readonly replica: Replica; readonly hasLocalAccount: boolean },
): Authenticator {
  const credentials = createCredentials(ctx);
  const recent = createBoundedCache<string>(MAX_RECENT, RECENT_MS);
  const notedAtMs = new WeakMap<KnownCaller, number>();

  function record(authorization: string, caller: KnownCaller): void {
    const nowMs = performance.now();
    if (nowMs - (notedAtMs.get(caller) ?? Number.NEGATIVE_INFINITY) < NOTE_MS) return;
    notedAtMs.set(caller, nowMs);
    recent.set(digestOf(authorization), caller.accountId);
  }

  async function byApiKey(key: string): Promise<KnownCaller> {
    const id = parseApiKey(key);
    const held = id === null ? null : await credentials.keys.find(id);
    if (!held || !timingSafeEqual(held.secretHash, hashSecret(key))) throw refuse('The API key is not valid.');
    if (held.revokedAt) throw refuse('The API key was revoked.');
    const now = ctx.clock.now();
    if (held.expiresAt && held.expiresAt <= now) throw refuse('The API key has expired.');
    if (now.getTime() - held.usedAtMs >= TOUCH_MS) {
      // First: of the calls that come at the same time, one records the use.
      held.usedAtMs = now.getTime();
      await touchApiKey(ctx.db, held.caller.keyId, now);
    }
    return held.caller;
  }

  async function byIdentityToken(token: string): Promise<KnownCaller> {
    const held = await credentials.tokens.find(hashSecret(token).toString('hex'));
    if (!held) throw refuse('The identityToken is not valid.');
    return held.caller;
  }

  return {
    async authenticateSession(token) {
      const id = sessionIdOf(token);
      const held = id === null ? null : await credentials.sessions.find(id);
      if (!held || !timingSafeEqual(held.secretHash, hashSecret(token))) throw refuse('The session is not valid.');
      if (held.revokedAt) throw refuse('The session was ended.');
      const now = ctx.clock.now();
      if (hasEnded(held.caller.session, now)) throw refuse('The session has expired.');
      if (held.caller.session.isLocal && !ctx.hasLocalAccount)
        throw refuse('The session was begun without a wallet; this node no longer allows that.');
      if (now.getTime() - held.caller.session.lastSeenAt.getTime() >= TOUCH_MS) {
        held.caller = { ...held.caller, session: { ...held.caller.session, lastSeenAt: now } };
        await touchApiKey(ctx.db, held.caller.keyId, now);
      }
      return held.caller;
    },
    async authenticate(authorization) {
      const credential = /^Bearer ([\x21-\x7e]{1,200})$/i.exec(authorization)?.[1];
      if (!credential) throw refuse('Send "Authorization: Bearer <API key>".');
      const caller = await (identityTokenPattern.test(credential) ? byIdentityToken(credential) : byApiKey(credential));
      record(authorization, caller);
      return caller;
    },
    recentAccountOf: (authorization) => recent.get(digestOf(authorization)) ?? null,
  };
}
