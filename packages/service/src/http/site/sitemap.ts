import { LRUCache } from 'lru-cache';
import { listIndexed, listIndexedStarts } from '../../agents/search/list-indexed.ts';
import type { NodeIdentity } from '../../chain/chain-info.ts';
import { notFound } from '../../lib/app-error.ts';
import { createSemaphore } from '../../lib/concurrency/semaphore.ts';
import { cachedFlight } from '../../lib/concurrency/single-flight.ts';
import type { Store } from '../../store/database.ts';
import { contents, pathOf } from '../documents/contents.ts';
import { type Document, toDocument } from '../documents/document-answer.ts';
import { html, toText } from '../documents/html.ts';
import { agentPath } from './parts.ts';

/** Addresses of a file as it begins, and at most, when agents were added since: the protocol allows 50,000. */
const STEP = 10_000;
const MAX_IN_FILE = 50_000;
const MAX_AGE_MS = 15 * 60_000;
const KEPT_BYTES = 16 * 1024 * 1024;

/** Pages that exist regardless of agents: these and the guides. */
const stillPaths = [
  ...['/', '/explore'],
  ...Object.values(contents).flatMap((pages) => pages.map(({ slug }) => pathOf(slug))),
];

const XML = 'text/xml; charset=utf-8';
const HEAD = html`<?xml version="1.0" encoding="UTF-8"?>
`;
const SCHEMA = 'http://www.sitemaps.org/schemas/sitemap/0.9';

export interface Sitemap {
  /** The list of files. */
  index(): Promise<Document>;
  /** A file by its number, from 1. Throws NOT_FOUND. */
  file(number: number): Promise<Document>;
}

/**
 * Addresses of the pages for search engines, in files of bounded size. All agents are counted once in a quarter of an hour, and one file is
 * read at a time, for any number of readers.
 */
export function createSitemap(ctx: Store & NodeIdentity, step = STEP): Sitemap {
  const kept = new LRUCache<string, Document>({
    maxSize: KEPT_BYTES,
    ttl: MAX_AGE_MS,
    sizeCalculation: ({ bytes, gzip }) => bytes.length + (gzip?.bytes.length ?? 0),
  });
  const reads = createSemaphore();
  const startsNow = cachedFlight(MAX_AGE_MS, () => listIndexedStarts(ctx, step));
  return {
    index: async () => toDocument(indexText(ctx.baseUrl, Math.max(1, (await startsNow()).length)), XML),
    async file(number) {
      const ids = await startsNow();
      const from = ids[number - 1];
      if (from === undefined && number !== 1) throw notFound('sitemap');
      const name = `${number} ${from} ${ids[number]}`;
      return reads.run(async () => {
        const known = kept.get(name);
        if (known) return known;
        const range = { from: from ?? '', to: ids[number] ?? null, limit: MAX_IN_FILE - stillPaths.length };
        const agents = await listIndexed(ctx, range);
        const document = toDocument(fileText(ctx.baseUrl, number === 1 ? stillPaths : [], agents), XML);
        kept.set(name, document);
        return document;
      });
    },
  };
}

const indexText = (baseUrl: string, files: number): string =>
  toText(html`${HEAD}<sitemapindex xmlns="${SCHEMA}">${Array.from(
    { length: files },
    (_, at) => html`<sitemap><loc>${baseUrl}/sitemap-${at + 1}.xml</loc></sitemap>
`,
  )}</sitemapindex>
`);

const fileText = (
  baseUrl: string,
  paths: readonly string[],
  agents: readonly { readonly id: string; readonly name: string; readonly updatedAt: Date }[],
): string =>
  toText(html`${HEAD}<urlset xmlns="${SCHEMA}">${paths.map(
    (path) => html`<url><loc>${baseUrl}${path}</loc></url>
`,
  )}${agents.map(
    (
      agent,
    ) => html`<url><loc>${baseUrl}${agentPath(agent)}</loc><lastmod>${agent.updatedAt.toISOString()}</lastmod></url>
`,
  )}</urlset>
`);
