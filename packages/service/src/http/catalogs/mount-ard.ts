import { ardAgents, ardExplore, ardSearch } from '@agent-network/contracts/agents/catalogs';
import type { Endpoint, Parsed } from '@agent-network/contracts/endpoint';
import type { Context, Hono } from 'hono';
import { AppError, notFound } from '../../lib/app-error.ts';
import { cachedFlight } from '../../lib/concurrency/single-flight.ts';
import { listPeers } from '../../network/read-network.ts';
import { answerDocument, type Document, documentAnswer, toDocument } from '../documents/document-answer.ts';
import { createFreshDocuments } from '../documents/fresh-documents.ts';
import type { DocumentLimit } from '../documents/limit-documents.ts';
import { type BodyBounds, trailOf } from '../request/body-bounds.ts';
import { countCall } from '../request/count-call.ts';
import { requireRoom } from '../request/handle-call.ts';
import type { HttpContext } from '../request/http-context.ts';
import { identify, readAs } from '../request/identify.ts';
import { parseRequest } from '../request/parse-request.ts';
import { readBody } from '../request/read-body.ts';
import { addressOf } from '../request/remote-address.ts';
import { ardAgentsAnswer } from './ard-list.ts';
import { ardExploreAnswer, ardSearchAnswer } from './ard-search.ts';
import { answerCatalog, type Catalog, type ErrorForm } from './catalog-answer.ts';
import { createCatalogFiles } from './catalog-files.ts';
import { kindsOf, MANIFEST_PATH, MANIFEST_TYPE, OLD_MANIFEST_PATH } from './entries.ts';

const CACHE = 'public, max-age=300';
const LIST_CACHE = 'public, max-age=15';
const PEERS_AGE_MS = 15_000;

/** Our codes in the terms of ARD; others stay as they are. */
const codes: Readonly<Record<string, string>> = {
  VALIDATION_ERROR: 'INVALID_ARGUMENT',
  PAYLOAD_TOO_LARGE: 'INVALID_ARGUMENT',
  UNAUTHORIZED: 'UNAUTHENTICATED',
  RATE_LIMITED: 'RATE_LIMIT_EXCEEDED',
};

const errorForm: ErrorForm = ({ code, message }) => ({ errorCode: codes[code] ?? code, message });

/** Bounds of a body: no search needs more. */
const bounds: BodyBounds = { maxValues: 500, maxChars: 16 * 1024, content: trailOf() };

/**
 * Serves Agentic Resource Discovery (ARD): the manifest of this node, its agents in files, and its registry, which searches the agents of the
 * network.
 */
export function mountArd(app: Hono, ctx: HttpContext, limit: DocumentLimit): void {
  if (kindsOf(ctx).length === 0) return;
  const catalog: Catalog = { ctx, limit, errorForm };
  const files = createCatalogFiles(ctx);
  const fresh = createFreshDocuments();
  const peers = cachedFlight(PEERS_AGE_MS, () => listPeers(ctx));
  const get = (path: string, route: string, cache: string, read: (c: Context) => Promise<Document>) =>
    app.get(path, (c) =>
      answerCatalog(catalog, c, route, async () => documentAnswer(c, await read(c), { 'cache-control': cache })),
    );
  const post = <E extends Endpoint>(row: E, route: string, answer: (body: Parsed<E>['body']) => Promise<object>) =>
    app.post(row.path, (c) =>
      answerCatalog(catalog, c, route, async (headers) => {
        const body = await readArdBody(ctx, c, row, headers);
        const document = toDocument(JSON.stringify(await answer(body)), 'application/json');
        return documentAnswer(c, document, { 'cache-control': 'no-store', ...headers });
      }),
    );
  app.get(MANIFEST_PATH, (c) => answerDocument(c, files.manifest, CACHE));
  app.get(OLD_MANIFEST_PATH, (c) =>
    answerDocument(c, async () => ({ ...(await files.manifest()), type: MANIFEST_TYPE }), CACHE),
  );
  get('/ard/v1/catalog/:file', 'ardCatalog', CACHE, async (c) => {
    const [, number] = /^([1-9]\d{0,5})\.json$/.exec(c.req.param('file') ?? '') ?? [];
    if (number === undefined) throw notFound('catalog');
    return files.page(Number(number));
  });
  get(ardAgents.path, 'ardAgents', LIST_CACHE, (c) => {
    const raw = { params: {}, query: c.req.queries(), header: () => undefined, body: undefined };
    const query = parseRequest(ardAgents, raw).query as Parsed<typeof ardAgents>['query'];
    const read = async () => toDocument(JSON.stringify(await ardAgentsAnswer(ctx, query)), 'application/json');
    return fresh(JSON.stringify(query), read);
  });
  post(ardSearch, 'ardSearch', async (body) => ardSearchAnswer(ctx, body, await peers()));
  post(ardExplore, 'ardExplore', (body) => ardExploreAnswer(ctx, body));
  app.all('/ard/v1/*', (c) =>
    answerCatalog(catalog, c, 'ardUnknown', async () => {
      throw new AppError(
        'NOT_FOUND',
        'The registry has POST /ard/v1/search, POST /ard/v1/explore and GET /ard/v1/agents.',
      );
    }),
  );
}

/** Identifies, counts and reads a search as one of the API. Its limits are in `headers`. */
async function readArdBody<E extends Endpoint>(
  ctx: HttpContext,
  c: Context,
  row: E,
  headers: Record<string, string>,
): Promise<Parsed<E>['body']> {
  requireRoom(ctx, 'GET');
  const identified = () => identify(ctx, row, c, headers);
  const caller = await identified();
  await countCall(ctx, { caller, row, address: () => addressOf(ctx, c) }, headers);
  const { body } = await readAs(caller, () => readBody(ctx, c, bounds), identified);
  const raw = { params: {}, query: c.req.queries(), header: () => undefined, body };
  return parseRequest(row, raw).body as Parsed<E>['body'];
}
