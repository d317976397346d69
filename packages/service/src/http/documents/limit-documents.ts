import type { Context, Hono, Next } from 'hono';
import { addressSubject } from '../../accounts/limits/rate-limit.ts';
import { AppError } from '../../lib/app-error.ts';
import { createBoundedCache } from '../../lib/bounded-cache.ts';
import { HOUR_MS, MINUTE_MS } from '../../lib/duration.ts';
import type { Store } from '../../store/database.ts';
import { commonHeaders } from '../answer/common-headers.ts';
import { toErrorAnswer } from '../answer/errors.ts';
import { requestIdOf } from '../api/mount.ts';
import { addressOf, type ProxySettings } from '../request/remote-address.ts';

const MAX_NETWORKS = 50_000;

/** Rate-limited paths outside of the endpoint table; `/livez` does nothing and is free. */
const PATHS = [
  '/openapi.json',
  '/docs/*',
  '/llms.txt',
  '/readyz',
  '/metrics',
  '/.well-known/*',
  '/a2a/.well-known/*',
  '/a2a/:id/.well-known/*',
  '/agents/:id/registration.json',
  '/agents/:id/openapi.json',
  '/discovery/*',
  '/agents/:id/feedback/:file{.+\\.json}',
  '/dashboard/*',
  '/:file{(sdk|cli)\\.tgz}',
  '/python/*',
  '/:file{sitemap(-[1-9][0-9]{0,3})?\\.xml}',
  '/:file{(favicon\\.svg|pages\\.css|preview\\.png|robots\\.txt)}',
  '/:file{(favicon\\.ico|apple-touch-icon\\.png|icon-[0-9]+\\.png|site\\.webmanifest)}',
  '/pages/*',
  '/agents/:id/preview.png',
];

interface Limit {
  readonly limit: number;
  readonly windowMs: number;
  readonly type: 'documents' | 'documentBytes';
  readonly message: string;
}

interface Window {
  readonly endsAtMs: number;
  used: number;
}

export interface DocumentLimit {
  /** Counts a document of the client; the answer when its limit is used up. */
  refuse(c: Context): Response | null;
  /** Counts the bytes that the client is sent. */
  sent(c: Context, bytes: number): void;
}

/**
 * Limits documents, files and health checks by network address, in this process. The limit is above every normal use and costs no query, so
 * that it also holds while the database is away.
 */
export function createDocumentLimit(
  ctx: Store & ProxySettings & { readonly documentsPerHour: number; readonly documentBytesPerMinute: number },
): DocumentLimit {
  const documents = createMeter({
    limit: ctx.documentsPerHour,
    windowMs: HOUR_MS,
    type: 'documents',
    message: `The limit of ${ctx.documentsPerHour} documents per hour is used up. Repeat the request after Retry-After.`,
  });
  const bytes = createMeter({
    limit: ctx.documentBytesPerMinute,
    windowMs: MINUTE_MS,
    type: 'documentBytes',
    message: `The limit of ${ctx.documentBytesPerMinute} bytes of documents per minute is used up; ETag and gzip save most of them.`,
  });
  const subjectOf = (c: Context) => addressSubject(addressOf(ctx, c));
  return {
    refuse(c) {
      const nowMs = ctx.clock.now().getTime();
      const subject = subjectOf(c);
      const over = documents.over(subject, nowMs) ?? bytes.over(subject, nowMs);
      if (over) return refusal(c, over);
      documents.add(subject, 1);
      return null;
    },
    // Sending half a megabyte takes milliseconds of the event loop: what an address is sent is bounded, not only how often.
    sent: (c, sent) => bytes.add(subjectOf(c), sent),
  };
}

/** Applies the limit to the paths that have nothing but documents. */
export function limitDocuments(app: Hono, limit: DocumentLimit): void {
  const count = async (c: Context, next: Next) => {
    const refused = limit.refuse(c);
    if (refused) return refused;
    await next();
    limit.sent(c, Number(c.res.headers.get('content-length') ?? 0));
  };
  for (const path of PATHS) app.get(path, count);
}

interface Over extends Limit {
  readonly retryAfterS: number;
}

/** Counts in fixed windows by network address, in memory. */
function createMeter(given: Limit) {
  const windows = createBoundedCache<Window>(MAX_NETWORKS);
  return {
    /** The limit that is used up, and when it ends; null while there is room. Begins a window when the last one has ended. */
    over(subject: string, nowMs: number): Over | null {
      const known = windows.get(subject);
      const window = known && known.endsAtMs > nowMs ? known : { endsAtMs: nowMs + given.windowMs, used: 0 };
      if (window !== known) windows.set(subject, window);
      if (window.used < given.limit) return null;
      return { ...given, retryAfterS: Math.max(1, Math.ceil((window.endsAtMs - nowMs) / 1000)) };
    },
    add(subject: string, amount: number): void {
      const window = windows.get(subject);
      if (window) window.used += amount;
    },
  };
}

function refusal(c: Context, { limit, windowMs, type, message, retryAfterS }: Over): Response {
  const error = new AppError('RATE_LIMITED', message, { details: { limit, type, retryAfterS } });
  const requestId = requestIdOf(c);
  const { status, headers, body } = toErrorAnswer(error, requestId);
  const limits = {
    'ratelimit-policy': `"${type}";q=${limit};w=${windowMs / 1000}`,
    ratelimit: `"${type}";r=0;t=${retryAfterS}`,
  };
  return new Response(JSON.stringify(body), {
    status,
    headers: { ...commonHeaders, ...headers, ...limits, 'content-type': 'application/json', 'x-request-id': requestId },
  });
}
