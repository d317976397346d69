import { readFileSync } from 'node:fs';
import type { Hono } from 'hono';
import { madeOnce } from '../../lib/made-once.ts';
import type { HttpContext } from '../request/http-context.ts';
import { readDocument } from './document.ts';
import { documentAnswer, toDocument } from './document-answer.ts';
import { llmsText } from './llms.ts';
import { docsPage } from './page.ts';

/** Content security policy: the page loads only its own style sheet, and runs no scripts. */
const pagePolicy = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const CACHE = { 'cache-control': 'public, max-age=300' };

const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');

/** Serves the reference for people at `/docs` and for programs at `/llms.txt`, both made from the endpoint table on first use. */
export function mountDocs(app: Hono, ctx: Pick<HttpContext, 'planLimits' | 'baseUrl'>): void {
  const document = madeOnce(readDocument);
  const page = madeOnce(() => toDocument(docsPage(document(), ctx.planLimits), 'text/html; charset=utf-8'));
  const style = madeOnce(() =>
    toDocument(['layout.css', 'content.css'].map(read).join('\n'), 'text/css; charset=utf-8'),
  );
  const llms = madeOnce(() => toDocument(llmsText(document(), ctx.baseUrl), 'text/plain; charset=utf-8'));
  app.get('/docs', (c) => documentAnswer(c, page(), { ...CACHE, 'content-security-policy': pagePolicy }));
  app.get('/docs/style.css', (c) => documentAnswer(c, style(), CACHE));
  app.get('/llms.txt', (c) => documentAnswer(c, llms(), CACHE));
}
