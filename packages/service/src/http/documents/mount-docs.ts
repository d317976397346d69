import { readFileSync } from 'node:fs';
import type { Context, Hono } from 'hono';
import { madeOnce } from '../../lib/made-once.ts';
import { commonHeaders } from '../common-headers.ts';
import type { HttpContext } from '../http-context.ts';
import { requestIdOf } from '../mount.ts';
import { readDocument } from './document.ts';
import { llmsText } from './llms.ts';
import { docsPage } from './page.ts';

/** The page brings nothing along but its own style sheet, and runs nothing. */
const pagePolicy = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const text = (c: Context, content: string, type: string, more: Record<string, string> = {}) =>
  new Response(content, {
    headers: {
      ...commonHeaders,
      'cache-control': 'public, max-age=300',
      'content-type': `${type}; charset=utf-8`,
      'x-request-id': requestIdOf(c),
      ...more,
    },
  });

const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');

/** The reference for people at `/docs` and for programs at `/llms.txt`, both made from the endpoint table when they are first asked for. */
export function mountDocs(app: Hono, ctx: Pick<HttpContext, 'planLimits' | 'baseUrl'>): void {
  const document = madeOnce(readDocument);
  const page = madeOnce(() => docsPage(document(), ctx.planLimits));
  const style = madeOnce(() => ['layout.css', 'content.css'].map(read).join('\n'));
  const llms = madeOnce(() => llmsText(document(), ctx.baseUrl));
  app.get('/docs', (c) => text(c, page(), 'text/html', { 'content-security-policy': pagePolicy }));
  app.get('/docs/style.css', (c) => text(c, style(), 'text/css'));
  app.get('/llms.txt', (c) => text(c, llms(), 'text/plain'));
}
