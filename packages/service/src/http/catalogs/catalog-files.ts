import { LRUCache } from 'lru-cache';
import { findInCatalog, listCatalog } from '../../agents/search/list-catalog.ts';
import { listIndexedStarts } from '../../agents/search/list-indexed.ts';
import { notFound } from '../../lib/app-error.ts';
import { createSemaphore } from '../../lib/concurrency/semaphore.ts';
import { cachedFlight } from '../../lib/concurrency/single-flight.ts';
import { type Document, toDocument } from '../documents/document-answer.ts';
import type { HttpContext } from '../request/http-context.ts';
import { agentEntry, kindsOf, MANIFEST_TYPE, manifestOf, nodeEntries, pageEntry } from './entries.ts';

/** Agents up to which the manifest has them itself. */
const MAX_INLINE = 100;
/** Agents of a file as it begins, and at most, when some were added since. */
const STEP = 450;
const MAX_IN_FILE = 500;
/** Maximum age of the manifest, and of the places where its files begin. */
const MAX_AGE_MS = 15_000;
const STARTS_AGE_MS = 5 * 60_000;
const KEPT_BYTES = 16 * 1024 * 1024;

export interface CatalogFiles {
  /** The manifest: entries of the node, and all its agents or the files that have them. */
  manifest(): Promise<Document>;
  /** A file with agents by its number, from 1. Throws NOT_FOUND. */
  page(number: number): Promise<Document>;
}

/**
 * Makes the catalog of this node's agents in files of bounded size, in the order of ids, so that the agents of a file stay in it. One file
 * is made at a time, for any number of readers.
 */
export function createCatalogFiles(
  ctx: HttpContext,
  { maxInline = MAX_INLINE, step = STEP }: { readonly maxInline?: number; readonly step?: number } = {},
): CatalogFiles {
  const kept = new LRUCache<string, Document>({
    maxSize: KEPT_BYTES,
    ttl: MAX_AGE_MS,
    sizeCalculation: ({ bytes, gzip }) => bytes.length + (gzip?.bytes.length ?? 0),
  });
  const making = createSemaphore();
  const kinds = kindsOf(ctx);
  const [preferred = 'a2a'] = kinds;
  const startsNow = cachedFlight(STARTS_AGE_MS, () => listIndexedStarts(ctx, step));
  const toFile = (entries: readonly object[], type: string) =>
    toDocument(JSON.stringify(manifestOf(ctx, entries)), type);
  const manifest = cachedFlight(MAX_AGE_MS, async () => {
    const first = await listCatalog(ctx, { limit: maxInline + 1 });
    const agents =
      first.length <= maxInline
        ? first.map((agent) => agentEntry(ctx, agent, preferred))
        : (await startsNow()).map((_, at) => pageEntry(ctx, at + 1));
    return toFile([...nodeEntries(ctx), ...agents], 'application/json');
  });
  return {
    manifest,
    async page(number) {
      const starts = await startsNow();
      const from = starts[number - 1];
      if (from === undefined) throw notFound('catalog');
      const before = starts[number] ?? null;
      return making.run(async () => {
        const name = `${from} ${before}`;
        const known = kept.get(name);
        if (known) return known;
        const agents = await listCatalog(ctx, { from, before, limit: MAX_IN_FILE });
        const document = toFile(
          agents.flatMap((agent) => kinds.map((kind) => agentEntry(ctx, agent, kind))),
          MANIFEST_TYPE,
        );
        kept.set(name, document);
        return document;
      });
    },
  };
}

const CONTEXT = 'https://agenticresourcediscovery.org/context/v1';

/** The entry of an agent of this node for its own page, as JSON-LD; null: it has not proven its endpoint, or is another node's. */
export async function readEntry(ctx: HttpContext, id: string): Promise<object | null> {
  const [kind] = kindsOf(ctx);
  const agent = kind === undefined ? null : await findInCatalog(ctx, id);
  if (kind === undefined || agent === null || agent.status === 'removed') return null;
  return { '@context': CONTEXT, ...agentEntry(ctx, agent, kind) };
}
