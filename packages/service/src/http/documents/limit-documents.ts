import type { Context, Hono, Next } from 'hono';
import { LRUCache } from 'lru-cache';
import { addressSubject } from '../../access/limits/rate-limit.ts';
import { AppError } from '../../lib/app-error.ts';
import type { HasClock } from '../../lib/clock.ts';
import { commonHeaders } from '../answer/common-headers.ts';
import { toErrorAnswer } from '../answer/errors.ts';
import { requestIdOf } from '../mount.ts';
import { addressOf, type HasTrustedProxies } from '../request/remote-address.ts';

const HOUR_MS = 3_600_000;
const MAX_NETWORKS = 50_000;

/** Rate-limited paths outside of the endpoint table; `/livez` does nothing and is free. */
const PATHS = [
  '/openapi.json',
  '/docs/*',
  '/llms.txt',
  '/readyz',
  '/metrics',
  '/.well-known/*',
  '/agents/:id/registration.json',
  '/agents/:id/feedback/:file{.+\\.json}',
  '/dashboard/*',
];

interface Window {
  readonly endsAtMs: number;
  used: number;
}

/**
 * Counts documents, files and health checks by network address, in this process: a limit that nobody reaches who reads them, and
 * that costs no query, so that it also holds while the database is away.
 */
export function limitDocuments(
  app: Hono,
  ctx: HasClock & HasTrustedProxies & { readonly documentsPerHour: number },
): void {
  const windows = new LRUCache<string, Window>({ max: MAX_NETWORKS });
  const limit = ctx.documentsPerHour;
  const count = async (c: Context, next: Next) => {
    const nowMs = ctx.clock.now().getTime();
    const subject = addressSubject(addressOf(ctx, c));
    const known = windows.get(subject);
    const window = known && known.endsAtMs > nowMs ? known : { endsAtMs: nowMs + HOUR_MS, used: 0 };
    if (window !== known) windows.set(subject, window);
    if (window.used >= limit) return refusal(c, limit, Math.max(1, Math.ceil((window.endsAtMs - nowMs) / 1000)));
    window.used += 1;
    return next();
  };
  for (const path of PATHS) app.get(path, count);
}

function refusal(c: Context, limit: number, retryAfterS: number): Response {
  const error = new AppError('RATE_LIMITED', `The limit of ${limit} documents per hour is used up.`, {
    details: { limit, type: 'documents', retryAfterS },
  });
  const requestId = requestIdOf(c);
  const { status, headers, body } = toErrorAnswer(error, requestId);
  const limits = { 'ratelimit-policy': `"documents";q=${limit};w=3600`, ratelimit: `"documents";r=0;t=${retryAfterS}` };
  return new Response(JSON.stringify(body), {
    status,
    headers: { ...commonHeaders, ...headers, ...limits, 'content-type': 'application/json', 'x-request-id': requestId },
  });
}
