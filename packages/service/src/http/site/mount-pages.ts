import { api } from '@agent-network/contracts/api';
import type { Endpoint } from '@agent-network/contracts/endpoint';
import type { Context, Hono } from 'hono';
import { agentIdOf } from '../../agents/agent-slug.ts';
import { resolveAgent } from '../../agents/search/find-agent.ts';
import { toErrorAnswer } from '../answer/errors.ts';
import { logFailure, requestIdOf } from '../api/mount.ts';
import { catalogLink } from '../catalogs/entries.ts';
import { type Document, documentAnswer, toDocument } from '../documents/document-answer.ts';
import { createFreshDocuments } from '../documents/fresh-documents.ts';
import type { DocumentLimit } from '../documents/limit-documents.ts';
import type { HttpContext } from '../request/http-context.ts';
import { agentPage } from './agent-page.ts';
import { errorPage } from './error-page.ts';
import { explorePage } from './explore-page.ts';
import { exploreParams, explorePath } from './explore-query.ts';
import { homePage } from './home-page.ts';
import { PAGE_GZIP_FROM_BYTES, type PageContent, pageText } from './layout.ts';
import { pageHeaders, wantsPage } from './page-headers.ts';
import { readAgentFacts, readExplore, readHome } from './read-pages.ts';
import { type Site, siteOf } from './site.ts';

const HTML = 'text/html; charset=utf-8';

/** Caches keep a page and check it each time. */
const headersOf = (hasScript: boolean) => ({
  ...pageHeaders(hasScript),
  'cache-control': 'public, no-cache',
  vary: 'Accept, Authorization, Accept-Encoding',
});
const headers = headersOf(false);

interface Page extends Document {
  /** The path of its canonical address. */
  readonly path: string;
  readonly status: 200 | 400;
  readonly hasScript: boolean;
}

/** Serves the public pages, complete as HTML without scripts. `/` and `/agents/{id}` return JSON to clients that do not prefer a page. */
export function mountPages(app: Hono, ctx: HttpContext, limit: DocumentLimit): void {
  const site = siteOf(ctx);
  const fresh = createFreshDocuments<Page>();
  const toPage = (content: PageContent, status: 200 | 400 = 200): Page => ({
    ...toDocument(pageText(site, content), HTML, PAGE_GZIP_FROM_BYTES),
    path: content.path,
    status,
    hasScript: content.scripts !== undefined,
  });
  const serve = (c: Context, name: string, read: () => Promise<Page>) =>
    answerPage(c, { ctx, site, limit }, () => fresh(name, read));

  app.get('/', (c, next) =>
    wantsPage(c) ? serve(c, '/', async () => toPage(homePage(site, await readHome(ctx)))) : next(),
  );
  app.get('/explore', (c) => {
    const params = exploreParams(new URL(c.req.url).searchParams);
    return serve(c, explorePath(params), async () => {
      const facts = await readExplore(ctx, params);
      return toPage(explorePage(site, facts), facts.problems.length > 0 ? 400 : 200);
    });
  });
  app.get('/agents/:part', (c, next) => {
    const part = c.req.param('part');
    const id = agentIdOf(part);
    if (!wantsPage(c)) return id === null || id === part ? next() : readById(app, c, id);
    if (id === null && literals.has(c.req.path)) return next();
    // A slug or name leads to the page; only pages of ids are kept.
    return answerPage(c, { ctx, site, limit }, async () => {
      const found = id ?? (await resolveAgent(ctx, part, 'id'));
      return fresh(`/agents/${found}`, async () => toPage(agentPage(site, await readAgentFacts(ctx, found))));
    });
  });
}

/** Paths of the endpoint table that look like the page of an agent. */
const literals: ReadonlySet<string> = new Set(Object.values<Endpoint>(api).map(({ path }) => path));

/** The JSON of an agent, asked for by its slug. */
function readById(app: Hono, c: Context, id: string): Response | Promise<Response> {
  const url = new URL(c.req.url);
  url.pathname = `/agents/${id}`;
  return app.fetch(new Request(url, { method: c.req.method, headers: c.req.raw.headers }), c.env);
}

interface Answering {
  readonly ctx: HttpContext;
  readonly site: Site;
  readonly limit: DocumentLimit;
}

async function answerPage(c: Context, { ctx, site, limit }: Answering, read: () => Promise<Page>): Promise<Response> {
  const refused = limit.refuse(c);
  if (refused) return refused;
  const response = await read()
    .then((page) => toResponse(c, site, page))
    .catch((error: unknown) => failure(c, ctx, site, error));
  limit.sent(c, Number(response.headers.get('content-length') ?? 0));
  return response;
}

function toResponse(c: Context, site: Site, page: Page): Response {
  // An agent is found by its id; its address follows its name, which may change back.
  if (page.path.startsWith('/agents/') && c.req.path !== page.path)
    return new Response(null, { status: 301, headers: { ...headers, location: page.path, 'content-length': '0' } });
  if (page.status !== 200) return plain(page.status, page.bytes, {});
  const answer = documentAnswer(c, page, page.hasScript ? headersOf(true) : headers);
  const { link } = page.path === '/' ? catalogLink(site) : {};
  if (link !== undefined) answer.headers.set('link', link);
  // The page says it in its head: a browser under the DevTools protocol (Lighthouse) does not load it with the header.
  answer.headers.delete('referrer-policy');
  return answer;
}

function failure(c: Context, ctx: HttpContext, site: Site, error: unknown): Response {
  const requestId = requestIdOf(c);
  const { status, headers: more } = toErrorAnswer(error, requestId);
  if (status >= 500) logFailure(ctx, 'page', requestId, error);
  const [title, text] =
    status === 404
      ? ['Not found', 'Agent not found. It may have been removed.']
      : ['Temporarily unavailable', 'The node cannot answer this now. Try again in a few seconds.'];
  return plain(status, pageText(site, errorPage(title, text)), { ...more, 'x-request-id': requestId });
}

const plain = (status: number, body: string | Uint8Array<ArrayBuffer>, more: Record<string, string>): Response =>
  new Response(body, {
    status,
    headers: {
      ...headers,
      ...more,
      'cache-control': 'no-store',
      'content-type': HTML,
      'content-length': String(typeof body === 'string' ? Buffer.byteLength(body) : body.length),
    },
  });
