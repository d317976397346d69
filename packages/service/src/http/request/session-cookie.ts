import { SESSION_COOKIE } from '@agent-network/contracts/access/sessions';
import type { Context } from 'hono';
import { getCookie } from 'hono/cookie';
import { SESSION_MS } from '../../access/caller/session.ts';

const attributes = 'Path=/; HttpOnly; Secure; SameSite=Strict';

/** Returns the session cookie of a request; null without one. */
export const sessionTokenOf = (c: Context): string | null => getCookie(c, SESSION_COOKIE) ?? null;

export const sessionCookie = (token: string): string =>
  `${SESSION_COOKIE}=${token}; ${attributes}; Max-Age=${SESSION_MS / 1000}`;

export const clearedCookie = `${SESSION_COOKIE}=; ${attributes}; Max-Age=0`;
