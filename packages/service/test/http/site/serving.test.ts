import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readConfig } from '../../../src/config/config.ts';
import type { DashboardBuild } from '../../../src/http/site/dashboard-build.ts';
import { type Harness, startHarness } from '../../support/harness.ts';
import { borrowHarness } from '../../support/lent-harness.ts';

const index = '<!doctype html><div id="root"></div>';
const script = 'document.title = "here";'.repeat(20);
const files: Readonly<Record<string, string | Buffer>> = {
  'index.html': index,
  'icon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  'manifest.json': '{}',
  'built.json': '{"hash":"secret"}',
  'assets/index-abc.js': script,
  'assets/index-abc.js.br': brotliCompressSync(script),
  'assets/index-abc.js.gz': gzipSync(script),
  'assets/index-abc.css': 'body{}',
};

let folder: string;
let state: ReturnType<DashboardBuild['state']>;
let h: Harness;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agent-network-dashboard-'));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(folder, 'dist', dirname(name)), { recursive: true });
    await writeFile(join(folder, 'dist', name), content);
  }
  await writeFile(join(folder, 'outside.txt'), 'not for anybody');
  const known = new Set(Object.keys(files));
  const settled = Promise.resolve();
  const dashboard = { folder: join(folder, 'dist'), state: () => state, files: () => known, settled };
  h = await startHarness({ dashboard });
});
beforeEach(() => {
  state = 'ready';
});
afterAll(async () => {
  await h.stop();
  await rm(folder, { recursive: true, force: true });
});

interface Raw {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
}

/** The path exactly as it is written, and no header that was not asked for: `fetch` mends both. */
const get = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Raw> =>
  new Promise((resolve, reject) => {
    const sent = request(h.baseUrl, { path, headers, method, agent: false }, async (answer) => {
      const chunks: Buffer[] = [];
      for await (const chunk of answer) chunks.push(chunk);
      resolve({ status: answer.statusCode, headers: answer.headers, bytes: Buffer.concat(chunks) });
    });
    sent.once('error', reject).end();
  });

const policy = [
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src blob:; connect-src 'self'; font-src 'self'",
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
].join('; ');

/** On each and every answer under /dashboard. */
const always = {
  'content-security-policy': policy,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

describe('files of the dashboard', () => {
  it.each([
    '/dashboard',
    '/dashboard/',
    '/dashboard/keys',
    '/dashboard/invocations/req_1?tab=a',
    '/dashboard/index.html',
  ])('%s is the page, under its whole policy, and asked for again each time', async (path) => {
    const { status, headers, bytes } = await get(path);
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      ...always,
      'cache-control': 'no-cache',
      'content-type': 'text/html; charset=utf-8',
    });
    expect(headers['access-control-allow-origin']).toBeUndefined();
    expect(headers['set-cookie']).toBeUndefined();
    expect(bytes.toString()).toBe(index);
  });

  it.each([
    ['br, gzip', 'br', files['assets/index-abc.js.br']],
    ['gzip, deflate', 'gzip', files['assets/index-abc.js.gz']],
    ['gzip, br;q=0', 'gzip', files['assets/index-abc.js.gz']],
    ['br;q=0.5', 'br', files['assets/index-abc.js.br']],
    ['identity', undefined, script],
    ['', undefined, script],
  ])('a script is kept for ever and comes as the browser takes it: %j', async (accepted, encoding, expected) => {
    const { status, headers, bytes } = await get('/dashboard/assets/index-abc.js', { 'accept-encoding': accepted });
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      ...always,
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'text/javascript; charset=utf-8',
      vary: 'Accept-Encoding',
    });
    expect(headers['content-encoding']).toBe(encoding);
    expect(bytes).toEqual(Buffer.from(expected ?? ''));
  });

  it.each([
    ['/dashboard/assets/index-abc.css', 'text/css; charset=utf-8', 'public, max-age=31536000, immutable'],
    ['/dashboard/icon.svg', 'image/svg+xml', 'no-cache'],
  ])('%s is of its type', async (path, type, caching) => {
    const { headers } = await get(path, { 'accept-encoding': 'br' });
    expect(headers).toMatchObject({ ...always, 'content-type': type, 'cache-control': caching });
    expect(headers['content-encoding']).toBeUndefined();
  });

  it.each(['/dashboard/assets/gone-123.js', '/dashboard/assets/index-abc.js.br', '/dashboard/assets/'])(
    '%s is a 404 that is not cached',
    async (path) => {
      const { status, headers, bytes } = await get(path);
      expect(status).toBe(404);
      expect(headers).toMatchObject({ ...always, 'cache-control': 'no-store' });
      expect(bytes.toString()).not.toContain('<');
    },
  );

  it.each(['/dashboard/manifest.json', '/dashboard/built.json'])('%s is not served', async (path) => {
    expect((await get(path)).bytes.toString()).toBe(index);
  });

  it.each([
    '/dashboard/../outside.txt',
    '/dashboard/..%2foutside.txt',
    '/dashboard/%2e%2e/outside.txt',
    '/dashboard/%2e%2e%2foutside.txt',
    '/dashboard/assets/..%2f..%2foutside.txt',
    '/dashboard/assets/..\\..\\outside.txt',
    '/dashboard/..%5coutside.txt',
    '/dashboard//etc/passwd',
    '/dashboard/%2fetc%2fpasswd',
    '/dashboard/index.html%00.js',
    '/dashboard/%c0%ae%c0%ae/outside.txt',
  ])('%s leads out of nothing', async (path) => {
    const { status, bytes } = await get(path);
    expect([200, 400, 404]).toContain(status);
    expect(bytes.toString()).not.toMatch(/not for anybody|root:/);
    if (status === 200) expect(bytes.toString()).toBe(index);
  });

  it('asks for the head only are answered without the body, and writes are not taken', async () => {
    const head = await get('/dashboard/', {}, 'HEAD');
    expect(head).toMatchObject({ status: 200, headers: always });
    expect(head.bytes).toHaveLength(0);
    expect([404, 405]).toContain((await get('/dashboard/', {}, 'POST')).status);
  });

  it('the public pages lead here', async () => {
    const { status, bytes } = await get('/', { accept: 'text/html,*/*' });
    expect(status).toBe(200);
    expect(bytes.toString()).toContain('href="/dashboard/"');
  });
});

describe('a dashboard that is not there', () => {
  it('while it is built, answers 503 with a page that asks again', async () => {
    state = 'building';
    const { status, headers, bytes } = await get('/dashboard/keys');
    expect(status).toBe(503);
    expect(headers).toMatchObject({
      ...always,
      'cache-control': 'no-store',
      'content-type': 'text/html; charset=utf-8',
      refresh: '1',
      'retry-after': '1',
    });
    expect(bytes.toString()).toContain('is being built');
    expect((await get('/dashboard/assets/index-abc.js')).status).toBe(503);
    expect((await get('/agents')).status).toBe(200);
  });

  it('when it could not be built, says so and asks no more', async () => {
    state = 'failed';
    const { status, headers, bytes } = await get('/dashboard/');
    expect([status, headers.refresh, headers['cache-control']]).toEqual([503, undefined, 'no-store']);
    expect(headers).toMatchObject(always);
    expect(bytes.toString()).toContain('could not be built');
  });

  it('is turned off by DASHBOARD=false, and then no path of it answers', async () => {
    expect(readConfig({ DASHBOARD: 'false' }).config.servesDashboard).toBe(false);
    expect(readConfig({}).config.servesDashboard).toBe(true);
    const without = await borrowHarness();
    try {
      for (const path of ['/dashboard', '/dashboard/', '/dashboard/assets/index-abc.js']) {
        const answer = await without.request('GET', path);
        expect([answer.status, answer.body.error?.code], path).toEqual([404, 'NOT_FOUND']);
      }
      const root = await fetch(without.baseUrl, { headers: { accept: 'text/html' } });
      expect(await root.text()).not.toContain('/dashboard');
    } finally {
      await without.stop();
    }
  });
});

it.each([
  ['localhost', 307],
  ['[::1]', 307],
  ['127.0.0.1', 200],
  ['node.example', 200],
])('asked for as %s, it is one dashboard: under the name of the node', async (name, status) => {
  const { port } = new URL(h.baseUrl);
  const headers = { host: `${name}:${port}` };
  const answer = await h.request('GET', '/dashboard/agents?tab=mine', { headers });
  expect(answer.status).toBe(status);
  expect(answer.headers.get('location')).toBe(status === 307 ? `${h.baseUrl}/dashboard/agents?tab=mine` : null);
});

it('asked for at another port, as behind a forwarded one, it is served where it is', async () => {
  expect((await h.request('GET', '/dashboard', { headers: { host: 'localhost:1' } })).status).toBe(200);
});
