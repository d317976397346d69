import { invalid } from '../../lib/app-error.ts';
import { createBytePieces } from '../../lib/byte-pieces.ts';
import { GuardedFetchError, type Outbound } from '../../lib/net/guarded-fetch.ts';
import { isEncoded } from '../../lib/net/guarded-fetch-exchange.ts';
import type { EndpointAnswer } from './attempt.ts';

const TIMEOUT_MS = 10_000;
/** Bytes of an answer that are stored. */
const KEPT_BYTES = 16 * 1024;

export interface Post {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly signal: AbortSignal;
}

/**
 * Posts to an endpoint and returns its answer or the failure. A received status counts even if the body breaks off, or is compressed and
 * so is not kept. Throws only when the signal aborts.
 */
export async function postWebhook(ctx: Outbound, post: Post): Promise<EndpointAnswer> {
  const startMs = performance.now();
  const answered = (answer: Omit<EndpointAnswer, 'durationMs'>): EndpointAnswer => ({
    ...answer,
    durationMs: Math.round(performance.now() - startMs),
  });
  try {
    const { status, headers, body, cancel } = await ctx.guardedFetch.stream({
      url: post.url,
      method: 'POST',
      headers: { 'content-type': 'application/json', ...post.headers },
      body: post.body,
      timeoutMs: TIMEOUT_MS,
      idleTimeoutMs: TIMEOUT_MS,
      maxBytes: Number.MAX_SAFE_INTEGER,
      takesEncoded: true,
      signal: post.signal,
    });
    const retryAfter = headers['retry-after'];
    const isKept = !isEncoded(headers);
    if (!isKept) cancel();
    return answered({
      status,
      error: null,
      response: isKept ? await readBeginning(body) : null,
      retryAfter: typeof retryAfter === 'string' ? retryAfter : null,
    });
  } catch (error) {
    if (post.signal.aborted || !(error instanceof GuardedFetchError)) throw error;
    return answered({ status: null, error: error.message, response: null, retryAfter: null });
  }
}

/** Text that PostgreSQL can store: without NUL. */
async function readBeginning(body: AsyncIterable<Buffer>): Promise<string> {
  const pieces = createBytePieces();
  try {
    for await (const piece of body) {
      pieces.add(piece);
      if (pieces.byteLength >= KEPT_BYTES) break;
    }
  } catch (error) {
    if (!(error instanceof GuardedFetchError)) throw error;
  }
  return pieces.take().subarray(0, KEPT_BYTES).toString('utf8').replaceAll('\0', '\ufffd');
}

/** Throws VALIDATION_ERROR for a URL that this node would not send to, at once instead of failing each delivery. */
export function requireAllowedUrl(ctx: Outbound, field: string, url: string): void {
  const check = ctx.guardedFetch.checkUrl(url);
  if (!check.ok) throw invalid(field, check.reason);
}
