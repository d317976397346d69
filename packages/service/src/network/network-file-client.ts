import { isDeeperThan, MAX_LEVELS } from '../lib/json/json-limits.ts';
import { parseJsonText } from '../lib/json/json-object.ts';
import { retryAfterMs } from '../lib/net/error-text.ts';
import { GuardedFetchError, type GuardedResponse, type Outbound } from '../lib/net/guarded-fetch.ts';
import type { GuardedFetchErrorKind } from '../lib/net/guarded-fetch-error.ts';
import type { Store } from '../store/database.ts';
import type { Reason } from './entry.ts';

const TIMEOUT_MS = 5000;

const reasons: Partial<Record<GuardedFetchErrorKind, Reason>> = {
  invalid_url: 'private_address',
  blocked: 'private_address',
  timeout: 'slow',
  too_large: 'too_large',
  redirect: 'redirect',
  encoding: 'compressed',
};

/** A node asks to be left alone for a time. */
export interface AskedPause {
  readonly status: 429 | 503;
  readonly ms: number;
}

export type ReadFile = { readonly file: unknown } | { readonly reason: Reason; readonly pause: AskedPause | null };

const unread = (reason: Reason, pause: AskedPause | null = null): ReadFile => ({ reason, pause });

/** Reads a JSON document of another node under all limits. Throws only when the signal aborts. */
export async function readJson(
  ctx: Outbound & Store,
  { url, maxBytes, signal }: { url: string; maxBytes: number; signal: AbortSignal },
): Promise<ReadFile> {
  try {
    const headers = { accept: 'application/json' };
    const answer = await ctx.guardedFetch.request({
      ...{ url, method: 'GET', headers, timeoutMs: TIMEOUT_MS, maxBytes, signal },
    });
    if (answer.status === 200) return parse(answer.body);
    if (answer.status === 404 || answer.status === 410) return unread('not_there');
    return unread('bad_status', pauseOf(answer, ctx.clock.now()));
  } catch (error) {
    if (signal.aborted || !(error instanceof GuardedFetchError)) throw error;
    return unread(reasons[error.kind] ?? 'unreachable');
  }
}

function pauseOf({ status, headers }: GuardedResponse, now: Date): AskedPause | null {
  const ms = retryAfterMs(headers['retry-after'], now);
  return ms !== null && (status === 429 || status === 503) ? { status, ms } : null;
}

function parse(body: Buffer): ReadFile {
  try {
    const file = parseJsonText(body.toString('utf8'));
    return isDeeperThan(file, MAX_LEVELS.file) ? unread('bad_file') : { file };
  } catch {
    return unread('no_json');
  }
}
