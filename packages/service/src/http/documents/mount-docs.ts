import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { api } from '@agent-network/contracts/api';
import type { Endpoint } from '@agent-network/contracts/endpoint';
import { errorCatalogue } from '@agent-network/contracts/errors';
import { eventTypes } from '@agent-network/contracts/events';
import { streamEventCatalogue } from '@agent-network/contracts/invocations/stream-events';
import type { Context, Hono } from 'hono';
import { madeOnce } from '../../lib/made-once.ts';
import { REPOSITORY_URL } from '../../lib/process/node-version.ts';
import type { HttpContext } from '../request/http-context.ts';
import { frameStyle, ownName } from '../site/site-frame.ts';
import { type ApiDocument, operationsOf, readDocument, type Schema } from './document.ts';
import { documentAnswer, toDocument } from './document-answer.ts';
import { alternativesOf } from './fields.ts';
import { docsPages } from './page.ts';

/** Content security policy: pages load their own style sheet, script, search index and icon, and nothing else. */
const pagePolicy =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const CACHE = { 'cache-control': 'public, max-age=300' };

const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');

/** Serves the documentation for people at `/docs` and for programs at `/llms.txt`, both made from the endpoint table on first use. */
export function mountDocs(
  app: Hono,
  ctx: Pick<HttpContext, 'planLimits' | 'baseUrl' | 'nodeLabel' | 'dashboard' | 'operatorLinks'>,
): void {
  const document = madeOnce(readDocument);
  const texts = madeOnce(() =>
    docsPages({
      ...{ document: document(), limits: ctx.planLimits, baseUrl: ctx.baseUrl, repositoryUrl: REPOSITORY_URL },
      frame: {
        node: ownName(ctx.nodeLabel),
        hasDashboard: ctx.dashboard !== null,
        operatorLinks: ctx.operatorLinks,
      },
    }),
  );
  const pages = madeOnce(
    () =>
      new Map([...texts()].map(([path, text]) => [path, madeOnce(() => toDocument(text, 'text/html; charset=utf-8'))])),
  );
  const files = {
    '/docs/style.css': () =>
      toDocument([frameStyle, ...['layout.css', 'content.css'].map(read)].join('\n'), 'text/css; charset=utf-8'),
    ...Object.fromEntries(
      ['docs.js', 'search.js', 'search-words.js'].map((name) => [
        `/docs/${name}`,
        () => toDocument(read(name), 'text/javascript; charset=utf-8'),
      ]),
    ),
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

/** Names of a body's fields: a star marks required ones, a slash separates alternatives. */
function bodyFields(schema: Schema): string {
  return alternativesOf(schema)
    .map((form) => {
      const required = new Set((form.required ?? []) as string[]);
      return Object.keys((form.properties ?? {}) as object)
        .filter((name) => name !== 'max_cost' && name !== 'max_spend')
        .map((name) => (required.has(name) ? `${name}*` : name))
        .join(', ');
    })
    .join(' / ');
}

function callLine(name: string, row: Endpoint, document: ApiDocument): string {
  const body = operationsOf(document).get(name)?.requestBody?.content?.['application/json']?.schema;
  const query = Object.keys(row.query?.shape ?? {}).join(', ');
  const who = row.auth === 'none' ? 'no key' : row.auth === 'agent' ? 'identityToken only' : (row.scope ?? 'any key');
  // Operator calls are of no use to others; openapi.json has them.
  if (row.scope === 'operator') return `${row.method} ${row.path} (${who})`;
  return [
    `${row.method} ${row.path} (${who}): ${row.summary}.`,
    query ? ` Query: ${query}.` : '',
    body ? ` Body: ${bodyFields(body)}.` : '',
  ].join('');
}

const guide = readFileSync(new URL('llms.md', import.meta.url), 'utf8');

/** Returns llms.txt: instructions for programs that use this node, made from the endpoint table; well under 20 kB. */
export function llmsText(document: ApiDocument, baseUrl: string): string {
  const parts: Readonly<Record<string, string>> = {
    baseUrl,
    streamEvents: list(Object.entries(streamEventCatalogue).map(([type, { when }]) => `${type}: ${when}`)),
    calls: list(Object.entries<Endpoint>(api).map(([name, row]) => callLine(name, row, document))),
    errors: list(Object.entries(errorCatalogue).map(([code, { status, when }]) => `${status} ${code}: ${when}`)),
    events: eventTypes.join(', '),
  };
  return guide.replace(/\{\{(\w+)\}\}/g, (_place, name: string) => parts[name] ?? '');
}

const list = (lines: readonly string[]) => lines.map((line) => `- ${line}`).join('\n');

/** A part of the documentation as the search finds it. */
interface SearchEntry {
  /** Path of the entry. */
  readonly id: string;
  readonly title: string;
  readonly page: string;
  readonly text: string;
}

const entities: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

/** The words of a piece of a page, without its markup. */
const wordsOf = (markup: string) =>
  markup
    .replaceAll(/<wbr>/g, '')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => entities[entity] ?? '')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** Removes examples from a page before it is indexed: they repeat the tables, and samples differ only in names. */
const withoutExamples = (markup: string) =>
  markup
    .replaceAll(/<details><summary>Example[\s\S]*?<\/details>/g, '')
    .replaceAll(/(<details id="event-[\s\S]*?<\/summary>)[\s\S]*?(?=<\/details>)/g, '$1')
    .replaceAll(/<div class="samples">[\s\S]*?<\/div><\/div>/g, '');

/** Every section and heading of the pages that has an address, with its words. */
export function searchEntries(pages: ReadonlyMap<string, string>): SearchEntry[] {
  return [...pages].flatMap(([path, text]) => {
    const page = wordsOf(/<h1>([\s\S]*?)<\/h1>/.exec(text)?.[1] ?? '');
    const [, main = ''] = /<main[^>]*>([\s\S]*)<div class="turn">/.exec(text) ?? [];
    const parts = main.split(/(?=<section[^>]* id="|<h[23] id=")/);
    return parts.flatMap((part) => {
      const [, id] = /^<(?:section|h[23])[^>]* id="([^"]+)"/.exec(part) ?? [];
      if (id === undefined || id === 'overview') return [];
      const isGuide = part.startsWith('<section class="guide"');
      const [, heading = page] =
        isGuide && !part.includes(`id="${id}"><h2>`) ? [] : (/<h[23][^>]*>([\s\S]*?)<\/h[23]>/.exec(part) ?? []);
      const words = wordsOf(withoutExamples(part));
      return words === '' ? [] : [{ id: `${path}#${id}`, title: wordsOf(heading), page, text: words }];
    });
  });
}
