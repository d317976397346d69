import { isDeeperThan } from '../../lib/json/json-depth.ts';
import { parseJsonText } from '../../lib/json/json-text.ts';
import { GuardedFetchError, type HasGuardedFetch } from '../../lib/net/guarded-fetch.ts';
import type { GuardedFetchErrorKind } from '../../lib/net/guarded-fetch-error.ts';
import type { Reason } from '../nodes/entry.ts';

const TIMEOUT_MS = 5000;
const MAX_LEVELS = 20;

const reasons: Partial<Record<GuardedFetchErrorKind, Reason>> = {
  invalid_url: 'private_address',
  blocked: 'private_address',
  timeout: 'slow',
  too_large: 'too_large',
  redirect: 'redirect',
  encoding: 'compressed',
};

export type ReadFile = { readonly file: unknown } | { readonly reason: Reason };

/** Reads a JSON document of another node under all limits. Throws only when the signal aborts. */
export async function readJson(
  ctx: HasGuardedFetch,
  { url, maxBytes, signal }: { url: string; maxBytes: number; signal: AbortSignal },
): Promise<ReadFile> {
  try {
    const headers = { accept: 'application/json' };
    const { status, body } = await ctx.guardedFetch.request({
      ...{ url, method: 'GET', headers, timeoutMs: TIMEOUT_MS, maxBytes, signal },
    });
    if (status !== 200) return { reason: status === 404 || status === 410 ? 'not_there' : 'bad_status' };
    return parse(body);
  } catch (error) {
    if (signal.aborted || !(error instanceof GuardedFetchError)) throw error;
    return { reason: reasons[error.kind] ?? 'unreachable' };
  }
}

function parse(body: Buffer): ReadFile {
  try {
    const file = parseJsonText(body.toString('utf8'));
    return isDeeperThan(file, MAX_LEVELS) ? { reason: 'bad_file' } : { file };
  } catch {
    return { reason: 'no_json' };
  }
}
