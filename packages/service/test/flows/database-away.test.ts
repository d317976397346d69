import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { contradictions } from '../support/books.ts';
import { type DatabaseProxy, startDatabaseProxy } from '../support/database-proxy.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { echo, startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { balanceOf, type Client, newClient } from '../support/treasury.ts';

let database: TestDatabase;
let proxy: DatabaseProxy;
let h: Harness;
let agent: TestAgent;
let client: Client;

beforeAll(async () => {
  database = await createTestDatabase();
  proxy = await startDatabaseProxy(database.url);
  h = await startHarness({ env: { DATABASE_URL: proxy.url } });
  agent = await startTestAgent(h, { perRequest: '0.05' });
  client = await newClient(h, '1.00');
});
afterEach(async () => {
  proxy.set('open');
  agent.behave(echo);
  expect(await contradictions(database.url)).toEqual([]);
});
afterAll(async () => {
  await agent.die();
  await h.stop();
  await proxy.stop();
  await database.drop();
});

const away = () => {
  proxy.set('refusing');
  proxy.cut();
};
const ask = (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
  h.request(method, path, { key: client.key, body, headers });

it('while the database is away every call is 503 with Retry-After, and says what became of it', async () => {
  away();
  for (const [method, path, body] of [
    ['GET', '/agents', undefined],
    ['GET', '/payments/balance', undefined],
    ['POST', '/payments/treasury', {}],
    ['POST', `/invoke/${agent.id}`, { task: 'hello' }],
  ] as const) {
    const answer = await ask(method, path, body);
    expect([path, answer.status, answer.body.error.code]).toEqual([path, 503, 'UNAVAILABLE']);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    const { message, details } = answer.body.error;
    // A change whose work had begun, as the caller was known already, is never said not to have happened.
    expect(method === 'GET' ? ['nothing'] : ['nothing', 'unknown']).toContain(details.outcome);
    expect(message).toMatch(/repeat/i);
  }
  expect((await h.request('GET', '/readyz')).status).toBe(503);
  proxy.set('open');
  expect((await ask('GET', '/payments/balance')).status).toBe(200);
});

it('while the database is away the metrics are read by a key that read them before, and by no other', async () => {
  const reader = await h.newAccount({ scopes: ['metrics:read'] });
  const stranger = await h.newAccount({ scopes: ['invoke'] });
  const unknown = await h.newAccount({ scopes: ['metrics:read'] });
  const statusFor = async ({ key }: { readonly key: string }) => (await h.request('GET', '/metrics', { key })).status;
  expect([await statusFor(reader), await statusFor(stranger)]).toEqual([200, 403]);
  away();
  expect([await statusFor(reader), await statusFor(stranger), await statusFor(unknown)]).toEqual([200, 403, 403]);
});

it('an unknown outcome is reported as unknown; repeating the request under its key finds it, run and paid once', async () => {
  const before = await balanceOf(h, client.key);
  const ran = new Set<unknown>();
  agent.behave((request, response) => {
    ran.add(request.headers['idempotency-key']);
    away();
    return echo(request, response);
  });
  const invoke = () =>
    ask('POST', `/invoke/${agent.id}`, { task: 'hello' }, { 'x-sync': 'true', 'idempotency-key': 'away-1' });
  const lost = await invoke();
  expect([lost.status, lost.body.error.code]).toEqual([503, 'UNAVAILABLE']);
  expect(lost.body.error.details).toEqual({ outcome: 'unknown' });
  expect(lost.body.error.message).toContain('same Idempotency-Key');
  agent.behave(echo);
  proxy.set('open');
  const found = async () => {
    const { status, body } = await invoke();
    return status === 200 ? body.data.status : body.error.code;
  };
  await expect.poll(found, { interval: 200 }).toBe('completed');
  expect(ran.size).toBe(1);
  const after = await balanceOf(h, client.key);
  expect([after.held, (Number(before.available) - Number(after.available)).toFixed(2)]).toEqual(['0.00', '0.05']);
});
