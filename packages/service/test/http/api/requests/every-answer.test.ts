import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endpoints, pathOf, validCalls } from '../support/valid-calls.ts';
import { startWorld, type World } from '../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const exposed = ['X-Request-Id', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'X-RateLimit-Type']
  .concat([
    'RateLimit',
    'RateLimit-Policy',
    'Retry-After',
    'PAYMENT-REQUIRED',
    'PAYMENT-RESPONSE',
    'X-PAYMENT-RESPONSE',
  ])
  .map((name) => name.toLowerCase());

function expectCommonHeaders(headers: Headers, cache = 'no-store'): void {
  expect(headers.get('access-control-allow-origin')).toBe('*');
  expect(headers.get('access-control-allow-credentials')).toBeNull();
  expect(headers.get('access-control-expose-headers')?.toLowerCase().split(', ')).toEqual(
    expect.arrayContaining(exposed),
  );
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(headers.get('cache-control')).toBe(cache);
}

function expectLimitHeaders(headers: Headers, isInvocation: boolean): void {
  for (const name of ['limit', 'remaining', 'reset']) expect(headers.get(`x-ratelimit-${name}`)).toMatch(/^\d+$/);
  const resetS = Number(headers.get('x-ratelimit-reset'));
  expect(resetS).toBeGreaterThan(Date.now() / 1000 - 5);
  expect(resetS).toBeLessThan(Date.now() / 1000 + 3605);
  expect(headers.get('x-ratelimit-type')).toBe(isInvocation ? 'invocations' : null);
}

describe.each(endpoints)('%s', (name, row) => {
  const isInvocation = row.limit === 'invocations';
  const send = (key: string | undefined) => {
    const { params, body } = validCalls[name](world);
    // Any query may come with an address that is paid by x402.
    const refused =
      name === 'invokeKeyless' ? { path: '', body: { task: 'x', nonsense: 1 } } : { path: '?nonsense=1', body };
    return world.h.request(row.method, `${pathOf(row, params)}${refused.path}`, { key, body: refused.body });
  };

  it('carries limits and security headers when it refuses a request', async () => {
    const { status, headers } = await send(validCalls[name](world).key);
    expect(status).toBe(400);
    expectCommonHeaders(headers);
    expectLimitHeaders(headers, isInvocation);
  });

  it('carries them when it refuses the key', async () => {
    const { status, headers } = await send('nonsense');
    expect(status).toBe(401);
    expectCommonHeaders(headers);
    expectLimitHeaders(headers, false);
  });

  // Without a key a call that is paid needs an agent that is.
  if (row.auth === 'none' && row.keyless !== 'pays')
    it('answers without a key', async () => {
      const { params, body } = validCalls[name](world);
      const { status, headers } = await world.h.request(row.method, pathOf(row, params), { body });
      expect(status).toBe(200);
      expectCommonHeaders(headers, row.isPublic ? 'public, no-cache' : 'no-store');
      expectLimitHeaders(headers, isInvocation);
    });
  else if (row.auth !== 'none')
    it('needs a key', async () => {
      const { status, headers, body } = await send(undefined);
      expect(status).toBe(401);
      expect(body.error.code).toBe('UNAUTHORIZED');
      expectLimitHeaders(headers, false);
    });
});

it('an agent-only call made with an API key is refused, counted and says so', async () => {
  const { agent, owner } = world;
  const { status, headers } = await world.h.request('POST', `/agents/${agent.id}/heartbeat`, {
    key: owner.key,
    body: {},
  });
  expect(status).toBe(403);
  expectLimitHeaders(headers, false);
});

describe('X-Request-Id', () => {
  const answerTo = (id: string) => world.h.request('GET', '/agents', { headers: { 'x-request-id': id } });

  it.each(['12345678', 'abc-DEF_0123456789', 'a'.repeat(128)])('%s is echoed', async (id) => {
    expect((await answerTo(id)).headers.get('x-request-id')).toBe(id);
  });

  it.each(['', 'short', 'a'.repeat(129), 'with space', '<script>1</script>', 'a;b=c,d/e'])(
    '%j is replaced',
    async (id) => {
      expect((await answerTo(id)).headers.get('x-request-id')).toMatch(/^req_[0-9a-z]{26}$/);
    },
  );

  const caching: Record<string, string> = { '/openapi.json': 'public, max-age=300', '/agents': 'public, no-cache' };
  it.each(['/', '/agents', '/livez', '/readyz', '/openapi.json', '/nowhere'])('%s has one', async (path) => {
    const { headers } = await world.h.request('GET', path, { headers: { 'x-request-id': 'my-request-1' } });
    expect(headers.get('x-request-id')).toBe('my-request-1');
    expectCommonHeaders(headers, caching[path]);
  });
});

describe('a preflight', () => {
  it('lets any origin send every header that we read', async () => {
    const { status, headers } = await world.h.request('OPTIONS', '/invoke/agt_0123456789', {
      headers: { origin: 'https://example.com', 'access-control-request-method': 'POST' },
    });
    expect(status).toBe(204);
    expect(headers.get('access-control-allow-origin')).toBe('*');
    const methods = headers.get('access-control-allow-methods')?.split(', ');
    expect(methods).toEqual(expect.arrayContaining([...new Set(endpoints.map(([, row]) => row.method))]));
    const allowed = headers.get('access-control-allow-headers')?.toLowerCase().split(', ');
    const read = endpoints.flatMap(([, row]) => Object.keys(row.headers?.shape ?? {}));
    expect(allowed).toEqual(
      expect.arrayContaining([...read, 'authorization', 'content-type', 'x-request-id', 'idempotency-key']),
    );
  });
});
