import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Context } from 'hono';
import { commonHeaders } from '../answer/common-headers.ts';
import { bodyOf } from '../answer/connection.ts';
import { requestIdOf } from '../mount.ts';

/** A static document: its bytes, made once, and its entity tag. */
export interface Document {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly etag: string;
  readonly type: string;
  /** The same compressed, where that is worth it. */
  readonly gzip: { readonly bytes: Uint8Array<ArrayBuffer>; readonly etag: string } | null;
}

/** Smaller documents are sent as they are. */
const GZIP_FROM_BYTES = 16 * 1024;
const GZIP = /\bgzip\b(?!;q=0(?:[,\s]|$))/;

export function toDocument(content: string | Uint8Array<ArrayBuffer>, type: string): Document {
  const bytes = typeof content === 'string' ? new Uint8Array(Buffer.from(content)) : content;
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 27);
  const isLargeText = bytes.length >= GZIP_FROM_BYTES && /^(text\/|application\/json)/.test(type);
  const gzip = isLargeText ? { bytes: new Uint8Array(gzipSync(bytes)), etag: `"${hash}-gzip"` } : null;
  return { bytes, type, etag: `"${hash}"`, gzip };
}

/** Answers with a document, or with 304 if the client has it; `headers` override those of every answer. */
export function documentAnswer(c: Context, document: Document, headers: Record<string, string>): Response {
  const gzip = GZIP.test(c.req.header('accept-encoding') ?? '') ? document.gzip : null;
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

export const isKnown = (given: string | undefined, etag: string): boolean =>
  (given ?? '').split(',').some((each) => [etag, `W/${etag}`, '*'].includes(each.trim()));
