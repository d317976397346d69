import { hash } from 'node:crypto';

/**
 * On every answer but those of `headersForNoOtherOrigin`. The API is for any origin that has a key: calls by cookie are for the node's own pages, and no answer allows others
 * to send any (`Access-Control-Allow-Credentials`).
 */
export const commonHeaders: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'ETag, Content-Disposition, Content-Range, X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-RateLimit-Type, RateLimit, RateLimit-Policy, Retry-After, Idempotency-Replayed, X-Registry-Position, X-Result-Token, X-Answer-Token, PAYMENT-REQUIRED, PAYMENT-RESPONSE, X-PAYMENT-RESPONSE, X-Should-Retry, A2A-Extensions, X-A2A-Extensions, WWW-Authenticate',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
};

/** Headers of pages for the node's operator: a page of another origin cannot read them. */
export const headersForNoOtherOrigin: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(commonHeaders).filter(([name]) => !name.startsWith('access-control-'))),
  'cross-origin-resource-policy': 'same-origin',
};

export const preflightHeaders: Readonly<Record<string, string>> = {
  ...commonHeaders,
  'access-control-allow-methods': 'GET, POST, PUT, DELETE, OPTIONS',
  // Stock clients send headers of their own, which differ with their version: without credentials, `*` stands for all but Authorization.
  'access-control-allow-headers':
    '*, Accept, Authorization, Content-Type, Content-Digest, Content-Disposition, Range, If-Range, Idempotency-Key, If-None-Match, X-Request-Id, X-Sync, X-Payment-Method, X-Payment-Scheme, X-Agent-Network-Via, Last-Event-ID, PAYMENT-SIGNATURE, X-PAYMENT, X-Result-Token, X-Answer-Token, SIGN-IN-WITH-X, Access-Control-Expose-Headers, MCP-Protocol-Version, Mcp-Method, Mcp-Name, A2A-Version, A2A-Extensions, X-A2A-Extensions',
  'access-control-max-age': '86400',
};

/** A strong entity tag of bytes, without its quotes. */
export const tagOf = (bytes: string | Uint8Array): string => hash('sha256', bytes, 'base64url').slice(0, 27);

const opaque = (tag: string) => tag.trim().replace(/^W\//, '');

/** True if an If-None-Match header has the tag, which is with its quotes, or `*`. The comparison is weak. */
export function isKnown(given: string | undefined, etag: string): boolean {
  if (given === undefined) return false;
  return given.split(',').some((each) => {
    const tag = opaque(each);
    return tag === '*' || tag === opaque(etag);
  });
}
