import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pathHints } from '../../../src/http/site/path-hints.ts';
import type { Harness } from '../../support/harness.ts';
import { borrowHarness } from '../../support/lent-harness.ts';

/** As Chromium sends it. */
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';

let h: Harness;
beforeAll(async () => {
  h = await borrowHarness();
});
afterAll(() => h.stop());

type Method = 'GET' | 'HEAD' | 'POST' | 'PUT';

async function ask(path: string, headers: Record<string, string> = {}, method: Method = 'GET') {
  const answer = await request(h.baseUrl + path, { method, headers });
  return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
}
const messageOf = ({ text }: { text: string }) => JSON.parse(text).error.message as string;

describe('an address that a node does not have', () => {
  it('is a page with the ways on for a browser, which nobody keeps or lists', async () => {
    const { status, headers, text } = await ask('/nowhere', { accept: BROWSER });
    expect([status, headers['content-type'], headers['cache-control']]).toEqual([
      404,
      'text/html; charset=utf-8',
      'no-store',
    ]);
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(String(headers.vary)).toMatch(/\bAccept\b(?!-)/);
    expect(headers['x-request-id']).toMatch(/^req_/);
    for (const way of ['/', '/explore', '/docs', '/openapi.json', '/llms.txt']) expect(text).toContain(`href="${way}"`);
    expect(text).toContain('noindex');
    const head = await ask('/nowhere', { accept: BROWSER }, 'HEAD');
    expect([head.status, head.text, head.headers['content-length']]).toEqual([404, '', headers['content-length']]);
  });

  it.each(['*/*', 'application/json', 'application/json, text/html', 'text/event-stream'])(
    'is JSON for a program that sends Accept: %s',
    async (accept) => {
      const { status, headers, text } = await ask('/nowhere', { accept });
      expect([status, headers['content-type'], JSON.parse(text).error.code]).toEqual([
        404,
        'application/json',
        'NOT_FOUND',
      ]);
    },
  );

  it('is JSON for whoever sends a key, and for what changes something', async () => {
    const keyed = await ask('/nowhere', { accept: BROWSER, authorization: 'Bearer ank_test_none' });
    const posted = await ask('/nowhere', { accept: BROWSER }, 'POST');
    for (const { status, headers } of [keyed, posted])
      expect([status, headers['content-type']]).toEqual([404, 'application/json']);
  });

  it('is a page below /docs as well', async () => {
    const { status, headers } = await ask('/docs/nothing', { accept: BROWSER });
    expect([status, headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
    expect(JSON.parse((await ask('/docs/nothing')).text).error.code).toBe('NOT_FOUND');
  });
});

describe('an address that people guess', () => {
  const rows = Object.entries(pathHints).flatMap(([address, names]) => names.map((name) => ({ name, address })));

  it('leads a browser to what the node has, which is there', async () => {
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
    for (const { name, address } of rows) {
      const { status, headers } = await ask(`/${name}`, { accept: BROWSER });
      const isServed = !address.startsWith('/dashboard');
      // `/explore` itself is a page.
      if (name === 'explore') expect(status).toBe(200);
      else if (isServed) expect([name, status, headers.location]).toEqual([name, 302, address]);
      // This node serves no dashboard: an address of it would lead nowhere.
      else expect([name, status]).toEqual([name, 404]);
    }
    for (const address of Object.keys(pathHints).filter((each) => !each.startsWith('/dashboard')))
      expect([address, (await ask(address, { accept: BROWSER })).status]).toEqual([address, 200]);
  });

  it('is found in any case and with a slash at the end', async () => {
    for (const path of ['/Swagger', '/health/', '/explore/'])
      expect([path, (await ask(path, { accept: BROWSER })).status]).toEqual([path, 302]);
  });

  it('tells a program where it is, and leads everybody below /docs', async () => {
    expect(messageOf(await ask('/health'))).toBe('There is no GET /health. See /readyz.');
    expect((await ask('/health')).status).toBe(404);
    const { status, headers } = await ask('/docs/getting-started');
    expect([status, headers.location]).toEqual([302, '/docs']);
  });
});

describe('a call that does not exist', () => {
  it.each([
    ['PUT', '/agents', 'This path takes GET and POST.'],
    ['GET', '/api/agents', 'Did you mean GET /agents?'],
    ['GET', '/v2/agents/agt_1/health', 'Did you mean GET /agents/{id}/health?'],
    ['POST', '/webhooks', 'Did you mean POST /account/webhooks?'],
    ['GET', '/nowhere', 'All calls are in /openapi.json.'],
    ['GET', `/${'a'.repeat(500)}/agents`, 'All calls are in /openapi.json.'],
  ] as const)('%s %s returns a suggestion', async (method, path, meant) => {
    const answer = await ask(path, {}, method);
    expect(answer.status).toBe(404);
    expect(messageOf(answer)).toContain(meant);
  });
});
