import { gzipSync } from 'node:zlib';
import type { Context } from 'hono';
import { bodyOf } from '../answer/answer-watch.ts';
import { commonHeaders, isKnown, tagOf } from '../answer/common-headers.ts';
import { acceptsEncoding } from '../answer/encodings.ts';
import { toErrorAnswer } from '../answer/errors.ts';
import { requestIdOf } from '../api/mount.ts';

/** A static document: its bytes, made once, and its entity tag. */
export interface Document {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly etag: string;
  readonly type: string;
  /** Compressed with gzip; null for small documents and images. */
  readonly gzip: { readonly bytes: Uint8Array<ArrayBuffer>; readonly etag: string } | null;
}

/** Size from which documents are compressed. */
const GZIP_FROM_BYTES = 16 * 1024;

export function toDocument(
  content: string | Uint8Array<ArrayBuffer>,
  type: string,
  gzipFromBytes = GZIP_FROM_BYTES,
): Document {
  const bytes = typeof content === 'string' ? new Uint8Array(Buffer.from(content)) : content;
  const tag = tagOf(bytes);
  const isLargeText = bytes.length >= gzipFromBytes && /^(text\/|application\/json)/.test(type);
  const gzip = isLargeText ? { bytes: new Uint8Array(gzipSync(bytes)), etag: `"${tag}-gzip"` } : null;
  return { bytes, type, etag: `"${tag}"`, gzip };
}

/** Answers with a document, or with 304 if the client has it; `headers` override those of every answer. */
export function documentAnswer(c: Context, document: Document, headers: Record<string, string>): Response {
  const gzip = acceptsEncoding(c.req.header('accept-encoding'), 'gzip') ? document.gzip : null;
  const { bytes, etag } = gzip ?? document;
  const all = {
    ...commonHeaders,
    'content-type': document.type,
    'x-request-id': requestIdOf(c),
    etag,
    ...(document.gzip ? { vary: 'Accept-Encoding' } : {}),
    ...(gzip ? { 'content-encoding': 'gzip' } : {}),
    ...headers,
  };
  return isKnown(c.req.header('if-none-match'), etag)
    ? new Response(null, { status: 304, headers: all })
    : new Response(bodyOf(c, bytes), { headers: { ...all, 'content-length': String(bytes.length) } });
}

/** Answers with a document that is made for the call, or with the error of making it. */
export async function answerDocument(
  c: Context,
  read: () => Promise<Document>,
  cacheControl: string,
): Promise<Response> {
  try {
    return documentAnswer(c, await read(), { 'cache-control': cacheControl });
  } catch (error) {
    const requestId = requestIdOf(c);
    const { status, headers, body } = toErrorAnswer(error, requestId);
    const common = { ...commonHeaders, 'content-type': 'application/json', 'x-request-id': requestId };
    return new Response(JSON.stringify(body), { status, headers: { ...common, ...headers } });
  }
}
