import { ownScopes } from '@agent-network/contracts/access/scopes';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, startHarness } from '../../../support/harness.ts';
import { rawRequest } from '../../../support/raw-request.ts';
import { problemWithError } from '../support/expect-error.ts';
import { endpoints } from '../support/valid-calls.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h.stop());

const get = (path: string, options = {}) => h.request('GET', path, options);

it('health says that the node lives and is ready', async () => {
  expect(await get('/livez')).toMatchObject({ status: 200, body: { status: 'live' } });
  expect(await get('/readyz')).toMatchObject({ status: 200, body: { status: 'ready' } });
});

it('the OpenAPI document names every endpoint and no other', async () => {
  const { status, headers, body } = await get('/openapi.json');
  expect(status).toBe(200);
  expect(headers.get('content-type')).toBe('application/json');
  expect(body.openapi).toMatch(/^3\.1\./);
  const documented = Object.entries(body.paths).flatMap(([path, item]) =>
    Object.keys(item as object)
      .filter((key) => ['get', 'post', 'put', 'delete', 'patch'].includes(key))
      .map((method) => `${method.toUpperCase()} ${path}`),
  );
  // OpenAPI takes paths that differ in the name of a parameter only for the same one.
  const unnamed = (calls: string[]) => calls.map((call) => call.replace(/\{\w+\}/g, '{}')).sort();
  expect(unnamed(documented)).toEqual(unnamed(endpoints.map(([, row]) => `${row.method} ${row.path}`)));
});

describe('metrics', () => {
  it('are for this machine and for operators', async () => {
    const { status, body } = await get('/metrics');
    expect(status).toBe(200);
    expect(body).toContain('# TYPE');
    const operator = await h.newAccount({ scopes: ['operator'] });
    expect((await get('/metrics', { key: operator.key })).status).toBe(200);
    // Through a proxy only the key counts.
    const via = { 'x-forwarded-for': '203.0.113.7' };
    const reader = await h.newAccount({ scopes: ['metrics:read'] });
    expect((await get('/metrics', { key: reader.key, headers: via })).status).toBe(200);
    expect((await get('/operator/status', { key: reader.key })).status).toBe(403);
    const others = await h.newAccount({ scopes: ownScopes });
    expect((await get('/metrics', { key: others.key, headers: via })).status).toBe(403);
  });

  it.each([
    ['a proxy on this machine', { headers: { 'x-forwarded-for': '203.0.113.7' } }],
    ['a proxy that tells the protocol only', { headers: { 'x-forwarded-proto': 'https' } }],
    ['a proxy that tells no address', { headers: { via: '1.1 proxy' } }],
    ['a tunnel', { headers: { 'cf-connecting-ip': '203.0.113.7' } }],
    ['another tunnel', { headers: { 'true-client-ip': '203.0.113.7' } }],
    ['a key that does not exist', { key: 'ank_test_guess' }],
  ])('are refused to %s', async (_who, options) => {
    expect(await get('/metrics', options)).toMatchObject({ status: 403, body: { status: 'forbidden' } });
  });

  it('are refused under a foreign name that leads here (DNS rebinding), and given under names of loopback', async () => {
    const { port } = new URL(h.baseUrl);
    const statusAs = async (host: string) =>
      (await rawRequest(h.baseUrl, { path: '/metrics', headers: { host } })).status;
    for (const host of ['evil.example', `127.0.0.1.evil.example:${port}`, '203.0.113.7'])
      expect([host, await statusAs(host)]).toEqual([host, 403]);
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`])
      expect([host, await statusAs(host)]).toEqual([host, 200]);
  });

  it('are for no page of another origin, whether they are given or refused', async () => {
    for (const headers of [{ origin: 'https://evil.example' }, { origin: 'https://evil.example', via: 'x' }]) {
      const answer = await get('/metrics', { headers });
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
      expect(answer.headers.get('cross-origin-resource-policy')).toBe('same-origin');
      expect(answer.headers.get('cache-control')).toBe('no-store');
    }
  });

  it('are refused to a key without the scope', async () => {
    const { key } = await h.newAccount({
      scopes: ['agents:write', 'invoke', 'payments:read', 'payments:write', 'keys:manage'],
    });
    expect((await get('/metrics', { key })).status).toBe(403);
  });
});

it.each([
  '/nowhere',
  '/agent',
  '/openapi.yaml',
  '/.env',
  '/%00',
  '/%E0%A4%A',
  '/invoke',
  '/identity',
  '/a'.repeat(500),
])('GET %s does not exist', async (path) => expect(problemWithError(await get(path), 'NOT_FOUND')).toBeNull());

it.each(['%00', 'agt_%00', '%ED%A0%80'])('no document of an agent, nor a refund, is at the id %s', async (id) => {
  const paths = ['registration.json', 'openapi.json', 'feedback/req_1.json', 'preview.png'].map(
    (at) => `/agents/${id}/${at}`,
  );
  for (const path of [
    ...paths,
    `/a2a/${id}/.well-known/agent-card.json`,
    `/agents/agt_1/feedback/${id}.json`,
    '/x402/agt_%00',
  ])
    expect([path, problemWithError(await get(path), 'NOT_FOUND')]).toEqual([path, null]);
});

it('HEAD answers as GET does, without the body', async () => {
  const { status, headers, body } = await h.request('HEAD', '/agents');
  expect([status, body]).toEqual([200, '']);
  expect(headers.get('x-ratelimit-limit')).toMatch(/^\d+$/);
});
