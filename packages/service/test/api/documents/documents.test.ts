import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, startHarness } from '../../support/harness.ts';
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
  expect(await get('/readyz')).toMatchObject({
    status: 200,
    body: { status: 'ready', jobs: { isRunning: true, oldestDueS: 0 } },
  });
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
  });

  it.each([
    ['a proxy on this machine', { headers: { 'x-forwarded-for': '203.0.113.7' } }],
    ['a key that does not exist', { key: 'ank_test_guess' }],
  ])('are refused to %s', async (_who, options) => {
    expect(await get('/metrics', options)).toMatchObject({ status: 403, body: { status: 'forbidden' } });
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

it('HEAD answers as GET does, without the body', async () => {
  const { status, headers, body } = await h.request('HEAD', '/agents');
  expect([status, body]).toEqual([200, '']);
  expect(headers.get('x-ratelimit-limit')).toMatch(/^\d+$/);
});
