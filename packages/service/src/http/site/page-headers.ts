import type { Context } from 'hono';
import { accepts } from 'hono/accepts';

/** Content security policy: a page loads only files of this node, scripts only where it has any, and sends its forms only to it. */
const contentPolicy = (hasScript: boolean): string =>
  [
    "default-src 'none'",
    ...(hasScript ? ["script-src 'self'"] : []),
    "style-src 'self'",
    // Pictures of results, as contents that the script has read.
    hasScript ? "img-src 'self' blob:" : "img-src 'self'",
    "manifest-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');

/** Headers of a public page. */
export const pageHeaders = (hasScript = false): Readonly<Record<string, string>> => ({
  'content-security-policy': contentPolicy(hasScript),
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'x-content-type-options': 'nosniff',
});

const PAGE = 'text/html';

/**
 * True if the client prefers a page to JSON: `text/html` is in `Accept`, and JSON has no greater weight before it. A wildcard does not
 * count, and a client that sends an API key is a program.
 */
export const wantsPage = (c: Context): boolean =>
  c.req.header('authorization') === undefined &&
  accepts(c, { header: 'Accept', supports: ['application/json', PAGE], default: 'application/json' }) === PAGE;
