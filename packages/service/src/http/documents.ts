import { openApiDocument } from '@agent-network/contracts/openapi';
import type { Context, Hono } from 'hono';
import { madeOnce } from '../lib/made-once.ts';
import { isLocalClient } from './client.ts';
import { commonHeaders, headersForNoOtherOrigin } from './common-headers.ts';
import { mountDocs } from './documents/mount-docs.ts';
import { mountFeedback } from './documents/mount-feedback.ts';
import type { HttpContext } from './http-context.ts';
import { requestIdOf } from './mount.ts';
import { mountRegistrations } from './registration-documents.ts';

const document = (c: Context, text: string, status = 200, type = 'application/json') =>
  new Response(text, { status, headers: { ...commonHeaders, 'content-type': type, 'x-request-id': requestIdOf(c) } });

const json = (c: Context, body: unknown, status = 200) => document(c, JSON.stringify(body), status);

const start = {
  name: 'agent-network',
  docs: '/docs',
  openapi: '/openapi.json',
  llms: '/llms.txt',
  agents: '/agents',
};

/** What is not part of the endpoint table: health, metrics and documents. */
export function mountDocuments(app: Hono, ctx: HttpContext): void {
  const openApi = madeOnce(() => JSON.stringify(openApiDocument()));
  app.get('/', (c) => json(c, start));
  app.get('/openapi.json', (c) => document(c, openApi()));
  mountDocs(app, ctx);
  mountFeedback(app, ctx);
  mountRegistrations(app, ctx);
  app.get('/livez', (c) => json(c, { status: 'live' }));
  app.get('/readyz', async (c) =>
    (await isReady(ctx)) ? json(c, { status: 'ready', jobs: jobsOf(ctx) }) : json(c, { status: 'not ready' }, 503),
  );
  app.get('/metrics', async (c) => {
    const isAllowed = await mayReadMetrics(ctx, c);
    const { registry } = ctx.metrics;
    const text = isAllowed ? await registry.metrics() : JSON.stringify({ status: 'forbidden' });
    const type = isAllowed ? registry.contentType : 'application/json';
    return new Response(text, {
      status: isAllowed ? 200 : 403,
      headers: { ...headersForNoOtherOrigin, 'content-type': type, 'x-request-id': requestIdOf(c) },
    });
  });
}

async function isReady(ctx: HttpContext): Promise<boolean> {
  if (!ctx.isReady()) return false;
  try {
    await Promise.all([ctx.db.query('ready', 'select 1'), ctx.usdc.chainId()]);
    return true;
  } catch (error) {
    ctx.log.warn({ err: error }, 'not ready');
    return false;
  }
}

/** A node whose background jobs are held up still serves: it is ready, and says so. */
function jobsOf({ queueStanding }: HttpContext) {
  const { isRunning, oldestDueS } = queueStanding.read();
  return { isRunning, oldestDueS: Math.round(oldestDueS) };
}

/** From this machine and not through a proxy, or with a key whose scope is `operator`. */
async function mayReadMetrics(ctx: HttpContext, c: Context): Promise<boolean> {
  const authorization = c.req.header('authorization');
  if (authorization === undefined) return isLocalClient(ctx, c);
  const caller = await ctx.authenticator.authenticate(authorization).catch(() => null);
  return caller?.kind === 'account' && caller.scopes.includes('operator');
}
