import type { Context, Hono } from 'hono';
import { readFeedbackFile } from '../../agents/give-feedback.ts';
import { commonHeaders } from '../common-headers.ts';
import type { HttpContext } from '../http-context.ts';
import { requestIdOf } from '../mount.ts';

/** The files behind this node's feedback in the shared registry, byte for byte: the registry has their hashes. */
export function mountFeedback(app: Hono, ctx: HttpContext): void {
  app.get('/agents/:id/feedback/:file{.+\\.json}', async (c, next) => {
    const { id, file } = c.req.param();
    const text = await readFeedbackFile(ctx, id, file.slice(0, -'.json'.length));
    return text === null ? next() : answer(c, text);
  });
}

const answer = (c: Context, text: string) =>
  new Response(text, {
    headers: { ...commonHeaders, 'content-type': 'application/json', 'x-request-id': requestIdOf(c) },
  });
