import { api } from '@agent-network/contracts/api';
import type { Endpoint, Gateway } from '@agent-network/contracts/endpoint';
import type { Context, Hono } from 'hono';
import { AppError } from '../../lib/app-error.ts';
import { madeOnce } from '../../lib/made-once.ts';
import { commonHeaders } from '../answer/common-headers.ts';
import { toErrorAnswer } from '../answer/errors.ts';
import { requestIdOf } from '../api/mount.ts';
import type { DocumentLimit } from '../documents/limit-documents.ts';
import type { HttpContext } from '../request/http-context.ts';
import { notFoundPage } from './error-page.ts';
import { pageText } from './layout.ts';
import { pageHeaders, wantsPage } from './page-headers.ts';
import { addressMeantBy } from './path-hints.ts';
import { type Site, siteOf } from './site.ts';

/** A page or JSON, as the request asks. */
const headers = { 'cache-control': 'no-store', vary: 'Accept, Authorization' };

/**
 * Answers requests without a route: a program gets 404 in the envelope with a suggestion, a browser a page. Browsers are redirected from a
 * guessed path to the likely one, and so are all clients below `/docs`, which is for people.
 */
export function mountNotFound(app: Hono, ctx: HttpContext, limit: DocumentLimit): void {
  const site = siteOf(ctx);
  app.notFound((c) => {
    const isRead = c.req.method === 'GET' || c.req.method === 'HEAD';
    const address = isRead ? servedAddress(site, c.req.path) : null;
    const isPage = isRead && wantsPage(c);
    if (address !== null && (isPage || c.req.path.startsWith('/docs/')))
      return new Response(null, { status: 302, headers: { ...headers, location: address, 'content-length': '0' } });
    return isPage ? page(c, site, limit) : notFoundAnswer(ctx, c, address);
  });
}

function servedAddress({ hasDashboard }: Site, path: string): string | null {
  const address = addressMeantBy(path);
  return address?.startsWith('/dashboard') && !hasDashboard ? null : address;
}

function page(c: Context, site: Site, limit: DocumentLimit): Response {
  const refused = limit.refuse(c);
  if (refused) return refused;
  const text = pageText(site, notFoundPage(site));
  const bytes = Buffer.byteLength(text);
  limit.sent(c, bytes);
  const own = { ...pageHeaders(), ...headers, 'content-type': 'text/html; charset=utf-8' };
  return new Response(text, {
    status: 404,
    headers: { ...own, 'content-length': String(bytes), 'x-request-id': requestIdOf(c) },
  });
}

function notFoundAnswer({ gateways }: HttpContext, c: Context, address: string | null): Response {
  const { method, path } = c.req;
  const methods = pricedMethodsOf(gateways, path);
  const meant = address === null ? callMeantBy(method, path) : `See ${address}.`;
  const text = `There is no ${method} ${path}.${meant === null ? ' All calls are in /openapi.json.' : ` ${meant}`}`;
  const requestId = requestIdOf(c);
  const { status, body } = toErrorAnswer(new AppError('NOT_FOUND', text), requestId);
  const allow: Record<string, string> = methods.length > 0 ? { allow: methods.join(', ') } : {};
  return new Response(JSON.stringify(body), {
    status: methods.length > 0 ? 405 : status,
    headers: { ...commonHeaders, ...headers, ...allow, 'content-type': 'application/json', 'x-request-id': requestId },
  });
}

/** Longer paths are no slips, and are not compared. */
const MAX_PATH_CHARS = 200;

/** Paths that OpenAI clients append to a base URL; a request for one means that the base URL is wrong. */
const OPENAI_PATH = /\/(?:chat\/completions|completions|responses|embeddings|models)(?:\/[^/]*)?\/*$/;

const rows = madeOnce(() =>
  Object.values<Endpoint>(api).map(({ method, path }) => ({
    method,
    path,
    whole: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
    ending: new RegExp(`${path.replace(/\{\w+\}/g, '[^/]+')}$`),
  })),
);

const priced = madeOnce(() =>
  Object.values<Endpoint>(api)
    .filter(({ keyless }) => keyless === 'pays')
    .map(({ method, path, gateway }) => ({
      ...{ method, gateway },
      whole: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
    })),
);

/**
 * The methods of a path at which wallets pay, if its gateway is enabled; x402 clients detect a wrong method by 405. Empty: no such path.
 */
const pricedMethodsOf = (gateways: ReadonlySet<Gateway>, path: string): readonly string[] =>
  priced().flatMap(({ method, gateway, whole }) =>
    path.length <= MAX_PATH_CHARS && whole.test(path) && (!gateway || gateways.has(gateway)) ? [method] : [],
  );

/**
 * A suggestion for a call that does not exist, as a sentence: the methods of its path, the path without an extra prefix (`/api/agents`) or
 * suffix (`/agents/`), or a longer path with this ending (`/webhooks`). Null: nothing is similar.
 */
function callMeantBy(method: string, path: string): string | null {
  if (path.length > MAX_PATH_CHARS) return null;
  if (OPENAI_PATH.test(path)) return 'Clients of the OpenAI API take the base URL of this node with /v1 behind it.';
  const methods = rows().flatMap((row) => (row.whole.test(path) ? [row.method] : []));
  if (methods.length > 0) return `This path takes ${[...new Set(methods)].join(' and ')}.`;
  const trimmed = path.replace(/\/+$/, '');
  const [longest] = rows()
    .filter((row) => row.method === method && row.ending.test(trimmed))
    .sort((a, b) => b.path.length - a.path.length);
  if (longest) return `Did you mean ${method} ${longest.path}?`;
  const ends = rows().filter((row) => row.method === method && trimmed !== '' && row.path.endsWith(trimmed));
  return ends.length === 1 ? `Did you mean ${method} ${ends[0]?.path}?` : null;
}
