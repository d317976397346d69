import { type Json, parseObject } from '../../lib/json/json-object.ts';
import { errorIn, excerptOf } from '../../lib/net/error-text.ts';
import { GuardedFetchError, type GuardedResponse, type Outbound } from '../../lib/net/guarded-fetch.ts';
import type { GuardedFetchErrorKind } from '../../lib/net/guarded-fetch-error.ts';
import type { FaultDetail, FaultKind } from '../agent.ts';
import { beginWithoutSecrets, headersTo, type Upstream } from './upstream.ts';

/** Limits of one exchange. */
interface Limits {
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
}

export const CHECK_LIMITS: Limits = { timeoutMs: 5000, maxBytes: 1024 * 1024 };

const unspecified: FaultDetail = { kind: 'answer', status: null, body: null };

/** Beginning of an answer that is shown in part: to look for a thousand secrets in a megabyte would take seconds. */
const MAX_LOOKED_AT = 8192;

/** The beginning of an endpoint's text, for its owner. */
const shownOf = (upstream: Upstream, text: string): string =>
  excerptOf(beginWithoutSecrets(upstream, text, MAX_LOOKED_AT));

/** The answer of an endpoint as a part of its fault, for its owner. */
export function answerDetail(
  upstream: Upstream,
  { status, body }: Pick<GuardedResponse, 'status' | 'body'>,
  kind: FaultKind = 'answer',
): FaultDetail {
  return { kind, status, body: shownOf(upstream, body.toString('utf8')) || null };
}

/** A fault of an endpoint. `isCertain`: it answered so, and an equal request would get an equal answer. */
export class UpstreamFault extends Error {
  override readonly name = 'UpstreamFault';
  readonly isCertain: boolean;
  readonly detail: FaultDetail;

  constructor(
    message: string,
    { isCertain = true, detail = unspecified }: { isCertain?: boolean; detail?: FaultDetail } = {},
  ) {
    super(message);
    this.isCertain = isCertain;
    this.detail = detail;
  }
}

/** Reads an address of the endpoint's origin, with the owner's headers. Any status except 3xx is an answer. */
export const getFrom = (ctx: Outbound, upstream: Upstream, url: string, limits = CHECK_LIMITS) =>
  ctx.guardedFetch.request({
    url,
    method: 'GET',
    headers: { ...headersTo(upstream, url), accept: 'application/json' },
    ...limits,
  });

/** The object that an address of the endpoint answers. Throws UpstreamFault. */
export async function readObject(ctx: Outbound, upstream: Upstream, url: string, name: string): Promise<Json> {
  const answer = await getFrom(ctx, upstream, url);
  requireGood(upstream, answer, name);
  const value = parseObject(answer.body.toString('utf8'));
  if (value === undefined) throw new UpstreamFault(`${name} is not answered with a JSON object.`);
  return value;
}

/** Throws UpstreamFault unless the status is 200. */
export function requireGood(upstream: Upstream, { status, body }: GuardedResponse, name: string): void {
  if (status === 200) return;
  if (status === 401 || status === 403)
    throw new UpstreamFault(`${name} is refused with status ${status}: upstream.headers may lack valid credentials.`, {
      detail: answerDetail(upstream, { status, body }, 'credentials'),
    });
  const said = errorIn(parseObject(body.toString('utf8')));
  const detail = said ? ` (${shownOf(upstream, said.message)})` : '';
  const isCertain = status < 500 && status !== 429 && status !== 408;
  throw new UpstreamFault(`${name} returned status ${status}${detail}.`, {
    isCertain,
    detail: answerDetail(upstream, { status, body }),
  });
}

/** Fault kinds, as coarse as the error messages: an unknown name and a refused address are one kind. */
export const kindOf: Record<GuardedFetchErrorKind, FaultKind> = {
  invalid_url: 'unreachable',
  blocked: 'unreachable',
  dns: 'unreachable',
  connect: 'unreachable',
  timeout: 'timeout',
  aborted: 'timeout',
  too_large: 'unreadable',
  encoding: 'unreadable',
  redirect: 'redirect',
  reset: 'broken_off',
};

/** A failed exchange as a fault; other errors are thrown on. */
export function faultOf(error: unknown): UpstreamFault {
  if (error instanceof UpstreamFault) return error;
  if (!(error instanceof GuardedFetchError)) throw error;
  const detail = { kind: kindOf[error.kind], status: null, body: null };
  return new UpstreamFault(error.message, { isCertain: error.kind === 'redirect', detail });
}
