import type { Context } from 'hono';
import { isKnown, tagOf } from './common-headers.ts';
import { acceptsEncoding, COMPRESSED_FROM_BYTES, type Compressor, type Encoding } from './encodings.ts';

export interface PublicAnswer {
  readonly status: 200 | 304;
  readonly headers: Record<string, string>;
  readonly body: string | Buffer<ArrayBuffer> | null;
}

/** The one that saves more comes first: it is taken if the client takes both. */
const encodings: readonly Encoding[] = ['br', 'gzip'];

const VARY = 'Authorization, Cookie, Accept-Encoding';

/**
 * An answer that is equal for all callers, with its entity tag, or 304 to a client that has it. Caches store it but revalidate each time,
 * so a caller reads its own writes at once. Its headers contain the caller's limits, so shared caches must not store it if credentials were
 * sent. Only these answers are compressed: they contain no secret that their length could leak (BREACH). `hasPage`: the address also has a
 * page for browsers.
 */
export async function publicAnswer(
  c: Context,
  compressor: Compressor,
  body: string | Buffer<ArrayBuffer>,
  hasPage: boolean,
): Promise<PublicAnswer> {
  const tag = tagOf(body);
  const hasCredentials = c.req.header('authorization') !== undefined || c.req.header('cookie') !== undefined;
  const cacheControl = hasCredentials ? 'private, no-cache' : 'public, no-cache';
  const headers = { 'cache-control': cacheControl, vary: hasPage ? `Accept, ${VARY}` : VARY, etag: `"${tag}"` };
  const given = c.req.header('if-none-match');
  if (given !== undefined) {
    const etag = [headers.etag, ...encodings.map((each) => encoded(tag, each))].find((each) => isKnown(given, each));
    if (etag !== undefined) return { status: 304, headers: { ...headers, etag }, body: null };
  }
  if (body.length < COMPRESSED_FROM_BYTES) return { status: 200, headers, body };
  const accepted = c.req.header('accept-encoding');
  const encoding = encodings.find((each) => acceptsEncoding(accepted, each));
  const bytes = encoding && (await compressor.compressed(tag, encoding, Buffer.from(body)));
  if (!bytes) return { status: 200, headers, body };
  const ofEncoding = { etag: encoded(tag, encoding), 'content-encoding': encoding };
  return { status: 200, headers: { ...headers, ...ofEncoding }, body: bytes };
}

const encoded = (tag: string, encoding: Encoding) => `"${tag}-${encoding}"`;
