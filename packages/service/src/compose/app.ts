import { Hono } from 'hono';
import { createAnswerRoom } from '../http/answer/answer-room.ts';
import { commonHeaders, preflightHeaders } from '../http/answer/common-headers.ts';
import { toErrorAnswer } from '../http/answer/errors.ts';
import { handlers } from '../http/api/all.ts';
import { keepContentsApart } from '../http/api/files.ts';
import { mount, requestIdOf } from '../http/api/mount.ts';
import { mountRefunds } from '../http/api/mount-refunds.ts';
import { mountArd } from '../http/catalogs/mount-ard.ts';
import { mountMcpRegistry } from '../http/catalogs/mount-mcp-registry.ts';
import { mountDocuments } from '../http/documents/documents.ts';
import { createDocumentLimit, limitDocuments } from '../http/documents/limit-documents.ts';
import { mountPackages } from '../http/documents/mount-packages.ts';
import { mountA2a } from '../http/gateways/a2a/mount-a2a.ts';
import { mountMcp } from '../http/gateways/mcp/mount-mcp.ts';
import { mountOpenAi } from '../http/gateways/openai/mount-openai.ts';
import type { HttpContext } from '../http/request/http-context.ts';
import { mountDashboard } from '../http/site/mount-dashboard.ts';
import { mountNotFound } from '../http/site/mount-not-found.ts';
import { mountPageFiles } from '../http/site/mount-page-files.ts';
import { mountPages } from '../http/site/mount-pages.ts';
import { createPackageBuild } from '../http/site/package-build.ts';
import { AppError } from '../lib/app-error.ts';
import { isTracing, served } from '../lib/telemetry/tracing.ts';

/** The HTTP application: preflights, the dashboard, documents, the endpoint table, and 404 for anything else. */
export function createApp(ctx: HttpContext): Hono {
  const app = new Hono();
  if (isTracing()) app.use('*', (c, next) => served(`${c.req.method}`, c.req.header('traceparent'), next));
  keepContentsApart(app, ctx);
  app.options('*', () => new Response(null, { status: 204, headers: preflightHeaders }));
  const limit = createDocumentLimit(ctx);
  limitDocuments(app, limit);
  mountPages(app, ctx, limit);
  mountPageFiles(app, ctx);
  mountDashboard(app, ctx);
  mountArd(app, ctx, limit);
  mountMcpRegistry(app, ctx, limit);
  mountDocuments(app, ctx);
  mountPackages(app, ctx, createPackageBuild());
  const room = createAnswerRoom(ctx);
  if (ctx.gateways.has('a2a')) mountA2a(app, ctx, room);
  if (ctx.gateways.has('mcp')) mountMcp(app, ctx, room);
  if (ctx.gateways.has('openai')) mountOpenAi(app, ctx, room);
  mountRefunds(app, ctx);
  mount(app, ctx, handlers, room);
  mountNotFound(app, ctx, limit);
  app.onError((error, c) => {
    const requestId = requestIdOf(c);
    if (!(error instanceof AppError)) ctx.log.error({ err: error, requestId }, 'request failed outside of its handler');
    return failure(error, requestId);
  });
  return app;
}

function failure(error: unknown, requestId: string): Response {
  const { status, headers, body } = toErrorAnswer(error, requestId);
  const all = { ...commonHeaders, ...headers, 'content-type': 'application/json', 'x-request-id': requestId };
  return new Response(JSON.stringify(body), { status, headers: all });
}
