import type { Context } from 'hono';
import { isLoopbackHost } from '../../lib/net/guarded-fetch-address.ts';

/** Headers of a request that show its origin. */
export interface OriginHeaders {
  readonly method: string;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly referer: string | undefined;
  readonly fetchSite: string | undefined;
}

export const askedBy = (c: Context): OriginHeaders => ({
  method: c.req.method,
  host: c.req.header('host'),
  origin: c.req.header('origin'),
  referer: c.req.header('referer'),
  fetchSite: c.req.header('sec-fetch-site'),
});

/**
 * Returns the origin of the node's own pages: that of its base URL. A node on loopback has several names (`localhost`, `127.0.0.1`), of
 * which the requested one counts. Other names that resolve here (DNS rebinding) are never its own.
 */
function ownOrigin(baseUrl: string, host: string | undefined): string {
  const base = new URL(baseUrl);
  const asked = host === undefined ? null : URL.parse(`${base.protocol}//${host}`);
  return asked && isLoopbackHost(base.hostname) && isLoopbackHost(asked.hostname) ? asked.origin : base.origin;
}

/**
 * True if a request comes from a page of the node itself, by Fetch Metadata or `Origin`; false without either. Another port of the same
 * host is another origin, although cookies do not distinguish ports.
 */
export function isSameOrigin(baseUrl: string, asked: OriginHeaders): boolean {
  const own = ownOrigin(baseUrl, asked.host);
  const { method, origin, referer, fetchSite } = asked;
  if (fetchSite !== undefined && fetchSite !== 'same-origin') return false;
  if (origin !== undefined) return origin === own;
  if (method !== 'GET') return false;
  return fetchSite !== undefined || (referer !== undefined && URL.parse(referer)?.origin === own);
}

/**
 * The address of a page under the node's own name, if it was requested under another name of loopback (`localhost` for `127.0.0.1`); else
 * null. Cookies and storage belong to one name, so under two there would be two dashboards.
 */
export function underOwnName(baseUrl: string, host: string | undefined, target: string): string | null {
  const base = new URL(baseUrl);
  const asked = host === undefined ? null : URL.parse(`${base.protocol}//${host}`);
  if (!asked || asked.hostname === base.hostname || asked.port !== base.port) return null;
  return isLoopbackHost(base.hostname) && isLoopbackHost(asked.hostname) ? base.origin + target : null;
}
