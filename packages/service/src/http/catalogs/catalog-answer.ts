import type { Context } from 'hono';
import { commonHeaders } from '../answer/common-headers.ts';
import { toErrorAnswer } from '../answer/errors.ts';
import { logFailure } from '../api/mount.ts';
import type { DocumentLimit } from '../documents/limit-documents.ts';
import { newGatewayHeaders } from '../gateways/common/gateway-request.ts';
import type { HttpContext } from '../request/http-context.ts';
import { recordRequest } from '../request/record-request.ts';

/** Puts an error of the node into the body that the protocol of a catalog has for errors. */
export type ErrorForm = (error: { readonly code: string; readonly message: string }) => object;

/** A family of catalog routes: its errors, and the limit that its reads count against. */
export interface Catalog {
  readonly ctx: HttpContext;
  readonly limit: DocumentLimit;
  readonly errorForm: ErrorForm;
}

/**
 * Answers a route of a catalog. A GET counts as a document of its network address; other methods are counted by `answer`. `answer` gets the
 * headers that its answer, or its error, is sent with.
 */
export async function answerCatalog(
  { ctx, limit, errorForm }: Catalog,
  c: Context,
  route: string,
  answer: (headers: Record<string, string>) => Promise<Response>,
): Promise<Response> {
  const startMs = performance.now();
  const headers = newGatewayHeaders(c);
  const requestId = headers['x-request-id'] ?? '';
  const isDocument = c.req.method === 'GET' || c.req.method === 'HEAD';
  const failed = (status: number, error: { code: string; message: string }, more: Record<string, string>) =>
    new Response(JSON.stringify(errorForm(error)), {
      status,
      headers: { ...commonHeaders, ...headers, ...more, 'content-type': 'application/json' },
    });
  const serve = async (): Promise<Response> => {
    const refused = isDocument ? limit.refuse(c) : null;
    if (refused) {
      const { error } = (await refused.json()) as { error: { code: string; message: string } };
      return failed(refused.status, error, Object.fromEntries(refused.headers));
    }
    const response = await answer(headers);
    if (isDocument) limit.sent(c, Number(response.headers.get('content-length') ?? 0));
    return response;
  };
  const response = await serve().catch((error: unknown) => {
    const known = toErrorAnswer(error, requestId);
    if (known.status >= 500) logFailure(ctx, route, requestId, error);
    return failed(known.status, known.body.error as { code: string; message: string }, known.headers);
  });
  recordRequest(ctx, c, { gateway: 'rest', route, requestId, status: response.status, startMs });
  return response;
}
