import type { Context, Hono } from 'hono';
import { ping } from '../../db/ping.ts';
import { readSettlementState } from '../../payments/settlement/settlement-state.ts';
import { commonHeaders, headersForNoOtherOrigin } from '../answer/common-headers.ts';
import { requestIdOf } from '../mount.ts';
import type { HttpContext } from '../request/http-context.ts';
import { documentAnswer } from './document-answer.ts';
import { createMetricsReaders } from './metrics-readers.ts';
import { mountDiscovery } from './mount-discovery.ts';
import { mountDocs } from './mount-docs.ts';
import { mountFeedback } from './mount-feedback.ts';
import { createReadiness } from './readiness.ts';
import { mountRegistrations } from './registration-documents.ts';
import { createServedOpenApi } from './served-openapi.ts';

const json = (c: Context, body: unknown, status = 200, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), {
    status,
    headers: { ...commonHeaders, ...headers, 'content-type': 'application/json', 'x-request-id': requestIdOf(c) },
  });

/** Cache header of documents that change only with the node's version. */
const CACHE = { 'cache-control': 'public, max-age=300' };

const start = {
  name: 'agent-network',
  docs: '/docs',
  openapi: '/openapi.json',
  llms: '/llms.txt',
  agents: '/agents',
  discovery: '/discovery/resources',
  sdk: '/sdk.tgz',
  cli: '/cli.tgz',
};

/** Mounts the routes outside of the endpoint table: health, metrics and documents. */
export function mountDocuments(app: Hono, ctx: HttpContext): void {
  const openApi = createServedOpenApi(ctx);
  const isReady = createReadiness(() => Promise.all([ping(ctx.db), ctx.usdc.chainId()]), {
    onFailure: (err) => ctx.log.warn({ err }, 'readiness check failed'),
  });
  app.get('/', (c) => json(c, start, 200, { vary: 'Accept, Authorization' }));
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
  const { hole: _, ...standing } = databaseWatch.read();
  return standing;
}

/** Seconds that this machine's clock is ahead of the database's, and the node's time ahead of the latest block; null: not known yet. */
async function clockOf({ databaseClock, metrics }: HttpContext) {
  const { values } = await metrics.clockOffset.get();
  const chain = values.find(({ labels }) => labels.reference === 'chain');
  return { aheadOfDatabaseS: databaseClock.offsetS(), aheadOfChainS: chain?.value ?? null };
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
  const [overdue, withdrawals] = await Promise.all([
    metrics.channelClaimsOverdue.get(),
    metrics.channelWithdrawals.get(),
  ]);
  return {
    isOffered: true,
    claimsOverdue: overdue.values[0]?.value ?? 0,
    withdrawals: withdrawals.values[0]?.value ?? 0,
  };
}

/** Prometheus asks for OpenMetrics by name; anything else gets the format that every reader of metrics knows. */
const formatOf = (c: Context) =>
  /\bapplication\/openmetrics-text\b/.test(c.req.header('accept') ?? '') ? ('openmetrics' as const) : ('text' as const);
