import type { Context } from 'hono';
import { commonHeaders } from '../../answer/common-headers.ts';
import { sseHeaders } from '../../answer/sse.ts';
import { toBody } from '../../mount.ts';
import type { HttpContext } from '../../request/http-context.ts';

/** An answer of a face in JSON. */
export function faceJson(
  ctx: HttpContext,
  c: Context,
  answer: { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly json: string },
): Response {
  const headers = { ...commonHeaders, 'content-type': 'application/json', ...answer.headers };
  return new Response(toBody(ctx, c, answer.json, headers), { status: answer.status, headers });
}

/** A stream of a face as its answer. */
export const faceStream = (body: ReadableStream<Uint8Array>, headers: Readonly<Record<string, string>>): Response =>
  new Response(body, { status: 200, headers: { ...commonHeaders, ...headers, ...sseHeaders } });
