import type { Context } from 'hono';
import { commonHeaders } from '../answer/common-headers.ts';
import { toErrorAnswer } from '../answer/errors.ts';
import { requestIdOf } from '../mount.ts';
import { type Document, documentAnswer } from './document-answer.ts';

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
