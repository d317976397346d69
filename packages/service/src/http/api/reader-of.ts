import type { Caller, KnownCaller } from '../../accounts/caller.ts';
import { useSignIn } from '../../accounts/proofs/sign-in-with-x.ts';
import { keylessAnswerer, keylessReader } from '../../calls/read/keyless-reader.ts';
import type { HttpContext } from '../request/http-context.ts';

export interface KeylessHeaders {
  readonly 'x-result-token'?: string | undefined;
  readonly 'sign-in-with-x'?: string | undefined;
}

/** The wallet that signed in with a call of one of these addresses; null: none. */
export const signedInWith = async (
  ctx: HttpContext,
  headers: KeylessHeaders,
  paths: readonly string[],
): Promise<string | null> => {
  const header = headers['sign-in-with-x'];
  const uris = paths.map((path) => ctx.baseUrl + path);
  return header === undefined ? null : useSignIn(ctx, header, uris);
};

/** The caller that reads a request: the authenticated one, or without an API key the one that proves to have made it. */
export async function readerOf(
  ctx: HttpContext,
  caller: Caller,
  { requestId, headers }: { readonly requestId: string; readonly headers: KeylessHeaders },
): Promise<KnownCaller> {
  if (caller.kind !== 'anonymous') return caller;
  const signedIn = await signedInWith(
    ctx,
    headers,
    ['', '/events', '/receipt'].map((part) => `/invoke/${requestId}${part}`),
  );
  return keylessReader(ctx, requestId, { resultToken: headers['x-result-token'] ?? null, signedIn });
}

/** The caller that answers or cancels a request: the authenticated one, or without an API key the one with its answerToken. */
export async function answererOf(
  ctx: HttpContext,
  caller: Caller,
  {
    requestId,
    headers,
  }: { readonly requestId: string; readonly headers: { readonly 'x-answer-token'?: string | undefined } },
): Promise<KnownCaller> {
  if (caller.kind !== 'anonymous') return caller;
  return keylessAnswerer(ctx, requestId, headers['x-answer-token'] ?? '');
}

interface Resumed {
  readonly headers: { readonly 'last-event-id'?: string | undefined };
  readonly query: { readonly after?: number | undefined; readonly lastEventId?: number | undefined };
}

/**
 * The event after which a stream resumes: from the header of clients that reconnect (an empty one means nothing, as in browsers), the query
 * of polyfills, which reconnect with their first address, then `after`; null: from the start.
 */
export function resumeAfter({ headers, query }: Resumed): number | null {
  const id = headers['last-event-id'];
  return id ? Number(id) : (query.lastEventId ?? query.after ?? null);
}
