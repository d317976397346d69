import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import { commonHeaders } from '../answer/common-headers.ts';
import { requestIdOf } from '../mount.ts';

/** A static document: its bytes, made once, and its entity tag. */
export interface Document {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly etag: string;
  readonly type: string;
}

export function toDocument(content: string | Uint8Array<ArrayBuffer>, type: string): Document {
  const bytes = typeof content === 'string' ? new Uint8Array(Buffer.from(content)) : content;
  return { bytes, type, etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 27)}"` };
}

/** Answers with a document, or with 304 where the client has it; `headers` stand above those of every answer. */
export function documentAnswer(c: Context, { bytes, etag, type }: Document, headers: Record<string, string>): Response {
  const all = { ...commonHeaders, 'content-type': type, 'x-request-id': requestIdOf(c), etag, ...headers };
  return isKnown(c.req.header('if-none-match'), etag)
    ? new Response(null, { status: 304, headers: all })
    : new Response(bytes, { headers: all });
}

export const isKnown = (given: string | undefined, etag: string): boolean =>
  (given ?? '').split(',').some((each) => [etag, `W/${etag}`, '*'].includes(each.trim()));
