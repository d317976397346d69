import { hash } from 'node:crypto';
import { nodeScopes } from '@agent-network/contracts/access/scopes';
import { type ErrorCode, errorCatalogue } from '@agent-network/contracts/errors';
import { openApiDocument } from '@agent-network/contracts/openapi/openapi';
import type { PaymentNetwork } from '@agent-network/contracts/payments/networks';
import type { Context, Hono } from 'hono';
import { readRegistration } from '../../agents/onchain/read-registration.ts';
import { readFeedbackFile } from '../../agents/reputation/give-feedback.ts';
import { payablePrices } from '../../agents/search/list-payable.ts';
import { assetIdOf, assetNameOf } from '../../chain/chain-info.ts';
import { onEach } from '../../chain/networks.ts';
import { AppError, notFound } from '../../lib/app-error.ts';
import { createBoundedCache } from '../../lib/bounded-cache.ts';
import { DAY_MS } from '../../lib/duration.ts';
import { figureOf } from '../../lib/metrics.ts';
import { NODE_VERSION } from '../../lib/process/node-version.ts';
import { readSettlementState } from '../../payments/settlement/settlement-state.ts';
import { nodeTokenOf } from '../../registry/write/announce-node.ts';
import { toNodeFile } from '../../registry/write/node-file.ts';
import { ping } from '../../store/database.ts';
import { commonHeaders, headersForNoOtherOrigin } from '../answer/common-headers.ts';
import { requestIdOf } from '../api/mount.ts';
import { catalogLink, MANIFEST_PATH } from '../catalogs/entries.ts';
import { isLocalClient } from '../request/client.ts';
import type { HttpContext } from '../request/http-context.ts';
import { answerDocument, type Document, documentAnswer, toDocument } from './document-answer.ts';
import { createFreshDocuments } from './fresh-documents.ts';
import { mountDiscovery } from './mount-discovery.ts';
import { mountDocs } from './mount-docs.ts';

const json = (c: Context, body: unknown, status = 200, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), {
    status,
    headers: { ...commonHeaders, ...headers, 'content-type': 'application/json', 'x-request-id': requestIdOf(c) },
  });

/** Cache header of documents that change only with the node's version. */
const CACHE = { 'cache-control': 'public, max-age=300' };

const startOf = ({ operatorLinks }: HttpContext) => ({
  name: 'agent-network',
  docs: '/docs',
  openapi: '/openapi.json',
  llms: '/llms.txt',
  agents: '/agents',
  discovery: '/discovery/resources',
  ard: MANIFEST_PATH,
  sdk: '/sdk.tgz',
  cli: '/cli.tgz',
  ...Object.fromEntries(Object.entries(operatorLinks).filter(([, link]) => link !== null)),
});

/** Mounts the routes outside of the endpoint table: health, metrics and documents. */
export function mountDocuments(app: Hono, ctx: HttpContext): void {
  const openApi = createServedOpenApi(ctx);
  const isReady = createReadiness(() => Promise.all([ping(ctx.db), ctx.usdc.chainId()]), {
    onFailure: (err) => ctx.log.warn({ err }, 'readiness check failed'),
  });
  const start = startOf(ctx);
  app.get('/', (c) => json(c, start, 200, { vary: 'Accept, Authorization', ...catalogLink(ctx) }));
  app.get('/openapi.json', async (c) => documentAnswer(c, await openApi(), CACHE));
  mountDocs(app, ctx);
  mountFeedback(app, ctx);
  mountRegistrations(app, ctx);
  mountDiscovery(app, ctx);
  app.get('/livez', (c) => json(c, { status: 'live' }));
  // Start and stop are reported at once, without the cache.
  app.get('/readyz', async (c) =>
    ctx.isReady() && !ctx.isDraining() && ctx.replica.isLoaded() && (await isReady())
      ? json(c, {
          status: 'ready',
          database: databaseOf(ctx),
          clock: await clockOf(ctx),
          signatures: ctx.signatureEngine,
          channels: await channelsOf(ctx),
          settlement: await readSettlementState(ctx),
          networks: await networksOf(ctx),
        })
      : json(c, notReady(ctx), 503),
  );
  const mayReadMetrics = createMetricsReaders(ctx);
  app.get('/metrics', async (c) => {
    const isAllowed = await mayReadMetrics(c);
    const forbidden = { text: JSON.stringify({ status: 'forbidden' }), type: 'application/json' };
    const { text, type } = isAllowed ? await ctx.metrics.exposition(formatOf(c)) : forbidden;
    return new Response(text, {
      status: isAllowed ? 200 : 403,
      headers: { ...headersForNoOtherOrigin, 'content-type': type, 'x-request-id': requestIdOf(c) },
    });
  });
}

/** Durability of acknowledged commits, as the database has it. */
function databaseOf({ databaseWatch }: HttpContext) {
  const { hole: _, ...state } = databaseWatch.read();
  return state;
}

/** Seconds that this machine's clock is ahead of the database's, and the node's time ahead of the latest block; null: not known yet. */
async function clockOf({ databaseClock, metrics }: HttpContext) {
  const { values } = await metrics.clockOffset.get();
  const chain = values.find(({ labels }) => labels.reference === 'chain' && labels.network === undefined);
  return { aheadOfDatabaseS: databaseClock.offsetS(), aheadOfChainS: chain?.value ?? null };
}

/** A network that is away keeps the node from nothing on the others. */
async function networksOf(ctx: HttpContext) {
  const networks = await ctx.networksReader();
  return Promise.all(
    networks.map(async ({ id, state, tokens }) => {
      const [first, ...others] = await Promise.all(tokens.map((token) => tokenOf(ctx, token)));
      return { id, state, ...(first?.channels && { channels: first.channels }), ...(others.length > 0 && { others }) };
    }),
  );
}

/** State of a token and of its channels; of the network's first one in the place of the network. */
async function tokenOf(ctx: HttpContext, { asset, state }: PaymentNetwork['tokens'][number]) {
  const on = onEach(ctx).find(({ chain }) => assetIdOf(chain) === asset);
  return { asset, state, channels: on && (await channelsOf(on)) };
}

/** Names the one reason that does not pass by itself. */
function notReady({ databaseWatch, isDraining }: HttpContext) {
  const { hole } = databaseWatch.read();
  if (hole !== null) return { status: 'not ready', database: { hole } };
  return { status: isDraining() ? 'draining' : 'not ready' };
}

/** Availability of payment channels, and claims of this process's last count that are overdue: neither keeps a node from serving. */
async function channelsOf({ chain, metrics }: HttpContext) {
  if (!chain.channels) return { isOffered: false, reason: chain.channelFault ?? 'they are off' };
  const network = chain.ledgerAsset === null ? undefined : assetNameOf(chain);
  const [overdue, withdrawals] = await Promise.all([
    figureOf(metrics.channelClaimsOverdue, network),
    figureOf(metrics.channelWithdrawals, network),
  ]);
  return {
    isOffered: true,
    claimsOverdue: overdue,
    withdrawals,
  };
}

/** Prometheus asks for OpenMetrics by name; anything else gets the format that every reader of metrics knows. */
const formatOf = (c: Context) =>
  /\bapplication\/openmetrics-text\b/.test(c.req.header('accept') ?? '') ? ('openmetrics' as const) : ('text' as const);

type Prices = Awaited<ReturnType<typeof payablePrices>>;

/** Making and compressing the document takes tens of milliseconds: it follows the prices at this pace. */
const FOLLOW_MS = 300_000;

interface Served {
  readonly document: Document;
  /** The prices as text, to compare with later ones. */
  readonly prices: string;
}

/**
 * The OpenAPI document of this node, with the lowest and highest price of its agents, and the address of its guide. It is rebuilt when
 * prices have changed, at most every five minutes, once for all readers. If prices can't be read, it stays unchanged.
 */
function createServedOpenApi(ctx: HttpContext): () => Promise<Document> {
  let served: Promise<Served> | null = null;
  let checkedMs = 0;
  const follow = async (last: Promise<Served> | null): Promise<Served> => {
    const before = await last;
    const prices = await payablePrices(ctx).catch(() => undefined);
    if (before && (prices === undefined || before.prices === JSON.stringify(prices))) return before;
    return make(ctx, prices ?? null);
  };
  return async () => {
    if (!served || performance.now() - checkedMs >= FOLLOW_MS) {
      checkedMs = performance.now();
      served = follow(served);
    }
    return (await served).document;
  };
}

function make({ baseUrl }: HttpContext, prices: Prices): Served {
  const content = {
    ...openApiDocument(prices),
    servers: [{ url: baseUrl }],
    'x-agentcash-guidance': { llmsTxtUrl: `${baseUrl}/llms.txt` },
  };
  return { document: toDocument(JSON.stringify(content), 'application/json'), prices: JSON.stringify(prices) };
}

/** Maximum age of a cached result. */
const MAX_AGE_MS = 1000;
/** Timeout of a check, which then counts as failed. */
const TIMEOUT_MS = 3000;

/**
 * Returns the result of a check, at most a second old, with one check at a time for any number of callers; `false` if it fails or times
 * out, and as long as an earlier one hangs.
 */
export function createReadiness(
  check: () => Promise<unknown>,
  { timeoutMs = TIMEOUT_MS, onFailure }: { timeoutMs?: number; onFailure: (error: unknown) => void },
): () => Promise<boolean> {
  let found: { readonly atMs: number; readonly isReady: boolean } | null = null;
  let checking: Promise<boolean> | null = null;
  let isHanging = false;

  async function look(): Promise<boolean> {
    const startedMs = performance.now();
    let timer: NodeJS.Timeout | undefined;
    const tooLong = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`the check took longer than ${timeoutMs} ms`)), timeoutMs).unref();
    });
    isHanging = true;
    const checked = check().finally(() => {
      isHanging = false;
    });
    const isReady = await Promise.race([checked, tooLong]).then(
      () => true,
      (error: unknown) => {
        onFailure(error);
        return false;
      },
    );
    clearTimeout(timer);
    checked.catch(() => undefined);
    found = { atMs: startedMs, isReady };
    checking = null;
    return isReady;
  }

  return () => {
    if (checking) return checking;
    if (isHanging) return Promise.resolve(false);
    if (found && performance.now() - found.atMs < MAX_AGE_MS) return Promise.resolve(found.isReady);
    checking = look();
    return checking;
  };
}

/** Cache header: a file never changes, because the registry has its hash. */
const FEEDBACK_CACHE = { 'cache-control': 'public, max-age=3600' };

/** Serves the files behind this node's feedback in the shared registry, byte for byte: the registry has their hashes. */
function mountFeedback(app: Hono, ctx: HttpContext): void {
  const fresh = createFreshDocuments();
  app.get('/agents/:id/feedback/:file{.+\\.json}', async (c, next) => {
    const { id, file } = c.req.param();
    const found = await fresh(c.req.path, async () => {
      const text = await readFeedbackFile(ctx, id, file.slice(0, -'.json'.length));
      if (text === null) throw notFound('feedback file');
      return toDocument(text, 'application/json');
    }).catch(orNull);
    return found ? documentAnswer(c, found, FEEDBACK_CACHE) : next();
  });
}

function orNull(error: unknown): null {
  if (error instanceof AppError && error.code === 'NOT_FOUND') return null;
  throw error;
}

/** Cache header: readers of the registry poll, and may reuse their copy this long. */
const REGISTRATION_CACHE = 'public, max-age=15';

/** Serves the files that entries of the shared registry point to (ERC-8004), without an envelope. */
function mountRegistrations(app: Hono, ctx: HttpContext): void {
  const fresh = createFreshDocuments();
  const serve = (c: Context, read: () => Promise<unknown>) =>
    answerDocument(
      c,
      () => fresh(c.req.path, async () => toDocument(JSON.stringify(await read()), 'application/json')),
      REGISTRATION_CACHE,
    );
  app.get('/.well-known/agent-network.json', (c) =>
    serve(c, async () => {
      const { baseUrl, nodeLabel: label, chain, registry } = ctx;
      const tokenId = await nodeTokenOf(ctx);
      return toNodeFile({ baseUrl, label, version: NODE_VERSION, wallet: chain.wallet, tokenId, registry });
    }),
  );
  app.get('/agents/:id/registration.json', (c) => serve(c, () => readRegistration(ctx, c.req.param('id'))));
}

/** Keys that are remembered: a node has few readers of its metrics. */
const MAX_READERS = 100;
/** Time for which a key is good that cannot be checked any more. */
const MAX_UNCHECKED_MS = DAY_MS;

/**
 * Returns who may read the metrics: the node's own machine, not through a proxy, or a key with the scope `metrics:read` or `operator`.
 * While no key can be checked, as the database is away, one that was good at its last check here, a day ago at most, is good: alerts on
 * the database need it.
 */
export function createMetricsReaders(ctx: HttpContext): (c: Context) => Promise<boolean> {
  const checked = createBoundedCache<Date>(MAX_READERS);
  const wasGood = (digest: string) =>
    ctx.clock.now().getTime() - (checked.get(digest)?.getTime() ?? 0) < MAX_UNCHECKED_MS;
  return async (c) => {
    const authorization = c.req.header('authorization');
    if (authorization === undefined) return isLocalClient(ctx, c);
    const digest = hash('sha256', authorization, 'base64');
    try {
      const isReader = await mayRead(ctx, authorization);
      if (isReader) checked.set(digest, ctx.clock.now());
      else checked.delete(digest);
      return isReader;
    } catch (error) {
      if (isRefusal(error)) checked.delete(digest);
      return wasGood(digest);
    }
  };
}

/** True if the key was checked: any other error leaves open whether it is good. */
const isRefusal = (error: unknown): boolean =>
  error instanceof AppError && errorCatalogue[error.code as ErrorCode].status < 500;

async function mayRead(ctx: HttpContext, authorization: string): Promise<boolean> {
  const caller = await ctx.authenticator.authenticate(authorization);
  return caller.kind === 'account' && nodeScopes.some((scope) => caller.scopes.includes(scope));
}
