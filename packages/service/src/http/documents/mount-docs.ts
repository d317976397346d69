import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Context, Hono } from 'hono';
import { madeOnce } from '../../lib/made-once.ts';
import type { HttpContext } from '../request/http-context.ts';
import { searchEntries } from './docs/search-entries.ts';
import { readDocument } from './document.ts';
import { documentAnswer, toDocument } from './document-answer.ts';
import { llmsText } from './llms.ts';
import { docsPages } from './page.ts';

/** Content security policy: pages load their own style sheet, script, search index and icon, and nothing else. */
const pagePolicy =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const CACHE = { 'cache-control': 'public, max-age=300' };

const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');

/** Serves the documentation for people at `/docs` and for programs at `/llms.txt`, both made from the endpoint table on first use. */
export function mountDocs(app: Hono, ctx: Pick<HttpContext, 'planLimits' | 'baseUrl'>): void {
  const document = madeOnce(readDocument);
  const texts = madeOnce(() => docsPages({ document: document(), limits: ctx.planLimits, baseUrl: ctx.baseUrl }));
  const pages = madeOnce(
    () =>
      new Map([...texts()].map(([path, text]) => [path, madeOnce(() => toDocument(text, 'text/html; charset=utf-8'))])),
  );
  const files = {
    '/docs/style.css': () => toDocument(['layout.css', 'content.css'].map(read).join('\n'), 'text/css; charset=utf-8'),
    '/docs/docs.js': () => toDocument(read('docs/docs.js'), 'text/javascript; charset=utf-8'),
    '/docs/minisearch.js': () =>
      toDocument(
        readFileSync(fileURLToPath(import.meta.resolve('minisearch')), 'utf8'),
        'text/javascript; charset=utf-8',
      ),
    '/docs/search.json': () => toDocument(JSON.stringify(searchEntries(texts())), 'application/json'),
    '/llms.txt': () => toDocument(llmsText(document(), ctx.baseUrl), 'text/plain; charset=utf-8'),
  };
  for (const [path, make] of Object.entries(files)) {
    const file = madeOnce(make);
    app.get(path, (c) => documentAnswer(c, file(), CACHE));
  }
  const pageAt = (c: Context) => {
    const page = pages().get(c.req.path.replace(/\/$/, ''));
    if (!page) return c.notFound();
    const answer = documentAnswer(c, page(), { ...CACHE, 'content-security-policy': pagePolicy });
    // The page says it in its head: a browser under the DevTools protocol (Lighthouse) does not load it with the header.
    answer.headers.delete('referrer-policy');
    return answer;
  };
  for (const path of ['/docs', '/docs/*']) app.get(path, pageAt);
}
