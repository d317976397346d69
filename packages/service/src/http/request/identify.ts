import { SESSION_COOKIE } from '@agent-network/contracts/access/sessions';
import { api } from '@agent-network/contracts/api';
import type { Endpoint } from '@agent-network/contracts/endpoint';
import type { Context } from 'hono';
import { getCookie } from 'hono/cookie';
import { type Caller, requireScope } from '../../accounts/caller.ts';
import { KEYLESS_AUTHORIZATION } from '../../accounts/keyless-caller.ts';
import { isSession } from '../../accounts/keys/session-caller.ts';
import { SESSION_MS } from '../../accounts/session.ts';
import { AppError } from '../../lib/app-error.ts';
import { countCall } from './count-call.ts';
import type { HttpContext } from './http-context.ts';
import { addressOf } from './remote-address.ts';
import { askedBy, isSameOrigin } from './same-origin.ts';

/**
 * Identifies the caller. A bad key is refused everywhere, even where a key is optional; a failed attempt counts against the network
 * address. "Bearer x402" means no key. The session cookie counts only without a key, and only from pages of the node itself. Where no
 * caller is needed, an invalid cookie is ignored, so that a signed-out user can sign in.
 */
export async function identify(
  ctx: HttpContext,
  row: Endpoint,
  c: Context,
  headers: Record<string, string>,
): Promise<Caller> {
  const anonymous = { kind: 'anonymous', address: addressOf(ctx, c) } as const;
  try {
    const authorization = c.req.header('authorization');
    if (row.sameOrigin) requireSameOrigin(ctx, c);
    const isKeyed = authorization !== undefined && !KEYLESS_AUTHORIZATION.test(authorization);
    if (isKeyed) return await ctx.authenticator.authenticate(authorization);
    const token = sessionTokenOf(c);
    const signedIn = token === null ? null : await bySession(ctx, row, c, token);
    if (signedIn) return signedIn;
    if (needsNoCaller(row, c)) return anonymous;
    throw missingKey(ctx, row, c);
  } catch (error) {
    if (error instanceof AppError && error.code === 'UNAUTHORIZED' && c.req.header('authorization') !== undefined)
      headers['www-authenticate'] = 'Bearer error="invalid_token"';
    if (error instanceof AppError && (error.code === 'UNAUTHORIZED' || error.code === 'FORBIDDEN'))
      await countCall(
        ctx,
        { caller: anonymous, row: { ...row, limit: 'api' }, address: () => anonymous.address },
        headers,
      );
    throw error;
  }
}

/** The 401 of a call without a key: what to send, and where none is needed. */
function missingKey({ gateways }: HttpContext, row: Endpoint, c: Context): AppError {
  const send = 'Send "Authorization: Bearer <API key>"';
  if (c.req.header('x-api-key') !== undefined) return new AppError('UNAUTHORIZED', `${send}, not X-API-Key.`);
  if (row.keyless === 'reads')
    return new AppError('UNAUTHORIZED', `${send}, or the X-Result-Token that came with the call's answer.`);
  if (row.keyless === 'answers')
    return new AppError('UNAUTHORIZED', `${send}, or the X-Answer-Token that came with the call's answer.`);
  if (row === api.invokeAgent && gateways.has('x402')) {
    const help = { page: '/dashboard/keys', docs: '/docs/paying#keyless', command: 'agentnet login' };
    const message = `${send}; or call without a key, paid by a wallet: POST /x402/${c.req.param('agentId')}.`;
    return new AppError('UNAUTHORIZED', message, { help });
  }
  return new AppError('UNAUTHORIZED', `${send}.`);
}

/** True for a caller without a key who shows that a request is theirs; whether it is, its reader decides. */
const showsRequest = (c: Context): boolean =>
  c.req.header('x-result-token') !== undefined || c.req.header('sign-in-with-x') !== undefined;

/** True for a link to the content of a file; whether it is valid, its reader decides. */
const isLink = (row: Endpoint, c: Context): boolean => row.bytes === 'answered' && c.req.query('sig') !== undefined;

const needsNoCaller = (row: Endpoint, c: Context): boolean =>
  row.auth === 'none' ||
  (row.keyless === 'reads' && (showsRequest(c) || isLink(row, c))) ||
  (row.keyless === 'answers' && c.req.header('x-answer-token') !== undefined);

async function bySession(ctx: HttpContext, row: Endpoint, c: Context, token: string): Promise<Caller | null> {
  if (needsNoCaller(row, c)) {
    if (!cameFromOwnPage(ctx, c)) return null;
    return ctx.authenticator.authenticateSession(token).catch(orNull);
  }
  requireSameOrigin(ctx, c);
  return ctx.authenticator.authenticateSession(token);
}

function orNull(error: unknown): null {
  if (error instanceof AppError && error.code === 'UNAUTHORIZED') return null;
  throw error;
}

const cameFromOwnPage = (ctx: HttpContext, c: Context): boolean => isSameOrigin(ctx.baseUrl, askedBy(c));

function requireSameOrigin(ctx: HttpContext, c: Context): void {
  if (cameFromOwnPage(ctx, c)) return;
  throw new AppError(
    'FORBIDDEN',
    "A session is valid only from this node's own pages: send the node's Origin, or use an API key.",
  );
}

export function requireAllowed(row: Endpoint, caller: Caller): void {
  if (row.auth === 'agent' && caller.kind !== 'agent')
    throw new AppError(
      'FORBIDDEN',
      'This call is only for the agent itself: send its identityToken instead of an API key.',
    );
  if (row.sessionProof && isSession(caller)) return;
  if (caller.kind === 'anonymous') return;
  if (row.scope) requireScope(caller, row.scope);
  if (row.keyless === 'pays') requireScope(caller, 'invoke');
}

/** A body that takes longer may have been held back until its caller's key was revoked. */
const SLOW_MS = 100;

/**
 * Reads the body of a request with an identified caller. After a slow one identifies the caller again, so that a key revoked since is
 * refused.
 */
export async function readAs<T>(
  caller: Caller,
  read: () => Promise<T>,
  identify: () => Promise<Caller>,
): Promise<{ readonly caller: Caller; readonly body: T }> {
  const startMs = performance.now();
  const body = await read();
  if (caller.kind === 'anonymous' || performance.now() - startMs < SLOW_MS) return { caller, body };
  const again = await identify();
  // Where no caller is needed, a session that has ended is ignored; this request is counted as its account's.
  if (again.kind === 'anonymous') throw new AppError('UNAUTHORIZED', 'The session ended while the body arrived.');
  return { caller: again, body };
}

const attributes = 'Path=/; HttpOnly; Secure; SameSite=Strict';

/** Returns the session cookie of a request; null without one. */
const sessionTokenOf = (c: Context): string | null => getCookie(c, SESSION_COOKIE) ?? null;

export const sessionCookie = (token: string): string =>
  `${SESSION_COOKIE}=${token}; ${attributes}; Max-Age=${SESSION_MS / 1000}`;

export const clearedCookie = `${SESSION_COOKIE}=; ${attributes}; Max-Age=0`;
