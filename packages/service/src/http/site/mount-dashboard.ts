import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { Context, Hono } from 'hono';
import type { NodeIdentity } from '../../chain/chain-info.ts';
import { bodyOf } from '../answer/answer-watch.ts';
import { isKnown } from '../answer/common-headers.ts';
import { acceptsEncoding } from '../answer/encodings.ts';
import { type Document, toDocument } from '../documents/document-answer.ts';
import { underOwnName } from '../request/same-origin.ts';
import type { DashboardBuild } from './dashboard-build.ts';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
};

/** Files of the build that are not served. */
const UNSERVED = /^(manifest|built)\.json|\.(br|gz)$/;

const encodings = [
  { name: 'br', ending: '.br' },
  { name: 'gzip', ending: '.gz' },
] as const;

/** Serves the dashboard under /dashboard: its built files, and its index page for every other path, which the page itself routes. */
export function mountDashboard(
  app: Hono,
  { dashboard, baseUrl }: NodeIdentity & { readonly dashboard: DashboardBuild | null },
): void {
  if (!dashboard) return;
  const page = (c: Context, path: string) => {
    const { pathname, search } = new URL(c.req.url);
    const own = underOwnName(baseUrl, c.req.header('host'), pathname + search);
    return own === null ? serve(c, dashboard, path) : answer(null, 307, { location: own, 'cache-control': 'no-store' });
  };
  app.get('/dashboard', (c) => page(c, ''));
  app.get('/dashboard/*', (c) => page(c, c.req.path.slice('/dashboard/'.length)));
}

async function serve(c: Context, dashboard: DashboardBuild, path: string): Promise<Response> {
  if (dashboard.state() !== 'ready') return notBuilt(dashboard);
  const isFile = dashboard.files().has(path) && !UNSERVED.test(path);
  if (!isFile && path.startsWith('assets/')) return answer('File not found.', 404, { 'cache-control': 'no-store' });
  return fileAnswer(c, dashboard, isFile ? path : 'index.html');
}

function notBuilt(dashboard: DashboardBuild): Response {
  const html = { 'content-type': types['.html'] ?? '', 'cache-control': 'no-store' };
  return dashboard.state() === 'failed'
    ? answer(failedPage, 503, html)
    : answer(buildingPage, 503, { ...html, refresh: '1', 'retry-after': '1' });
}

async function fileAnswer(c: Context, dashboard: DashboardBuild, name: string): Promise<Response> {
  const accepted = c.req.header('accept-encoding');
  const encoding = encodings.find(
    (each) => acceptsEncoding(accepted, each.name) && dashboard.files().has(name + each.ending),
  );
  const { bytes, etag } = await fileOf(dashboard, name, encoding?.ending ?? '');
  const isThere = isKnown(c.req.header('if-none-match'), etag);
  return answer(isThere ? null : bodyOf(c, bytes), isThere ? 304 : 200, {
    ...(isThere ? {} : { 'content-length': String(bytes.length) }),
    etag,
    'content-type': types[extname(name)] ?? 'application/octet-stream',
    // Names under assets/ contain a hash of the content.
    'cache-control': name.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
    vary: 'Accept-Encoding',
    ...(encoding ? { 'content-encoding': encoding.name } : {}),
  });
}

/** In-memory cache of the build's files: they are few, and each is read from disk once. */
const kept = new WeakMap<ReadonlySet<string>, Map<string, Promise<Document>>>();

function fileOf(dashboard: DashboardBuild, name: string, ending: string): Promise<Document> {
  const built = dashboard.files();
  const files = kept.get(built) ?? new Map<string, Promise<Document>>();
  kept.set(built, files);
  const path = name + ending;
  const known = files.get(path);
  if (known) return known;
  const read = readFile(join(dashboard.folder, path)).then((bytes) => toDocument(new Uint8Array(bytes), ''));
  files.set(path, read);
  read.catch(() => files.delete(path));
  return read;
}

const answer = (
  body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>> | null,
  status: number,
  headers: Record<string, string>,
): Response => {
  const length = typeof body === 'string' ? { 'content-length': String(Buffer.byteLength(body)) } : {};
  return new Response(body, { status, headers: { ...dashboardHeaders, ...headers, ...length } });
};

const page = (title: string, text: string) => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title></head>
<body><h1>${title}</h1><p>${text}</p></body>
</html>
`;

/** Page shown until the dashboard is built. It reloads automatically. */
const buildingPage = page(
  'The dashboard is being built',
  'This happens once, after an installation or an update, and takes some seconds. The page reloads automatically.',
);

const failedPage = page(
  'The dashboard could not be built',
  'The log of the node says why. Everything else of the node works: see <a href="/docs">/docs</a>.',
);

/**
 * Content security policy: the page runs only files of this node, connects only to it, and cannot be framed. Styles that scripts set on
 * their own elements are not style attributes, and need no permission.
 */
const contentPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // Files of results, as contents that the page has read by its session: shown as pictures and sounds, never as pages.
  "img-src 'self' data: blob:",
  'media-src blob:',
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Headers of every answer under /dashboard. Unlike the API, no other origin may read it. */
const dashboardHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': contentPolicy,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};
