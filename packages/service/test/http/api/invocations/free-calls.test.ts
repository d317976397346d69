import { afterAll, beforeAll, expect, it } from 'vitest';
import { fixedClock } from '../../../support/fixed-clock.ts';
import { type Answer, type Harness, startHarness, type TestAccount } from '../../../support/harness.ts';
import { startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { callTool } from '../../gateways/mcp/raw-client.ts';

const clock = fixedClock(new Date());
let h: Harness;
let free: TestAgent;
let paid: TestAgent;
beforeAll(async () => {
  const env = { ZERO_PRICE_CALLS_PER_HOUR: '3', TRUSTED_PROXIES: '127.0.0.0/8,::1', ALLOW_PRIVATE_ENDPOINTS: 'true' };
  h = await startHarness({ clock, env });
  const owner = await h.newAccount();
  free = await startTestAgent(h, { owner, perRequest: '0' });
  paid = await startTestAgent(h, { owner, perRequest: '0.05' });
});
afterAll(async () => {
  await Promise.all([free.die(), paid.die()]);
  await h.stop();
});

/** Made from a network address. */
const invoke = (key: string, client: string, headers: Record<string, string> = {}, agent = free): Promise<Answer> =>
  h.request('POST', `/invoke/${agent.id}`, {
    key,
    body: { task: 'x' },
    headers: { 'x-forwarded-for': client, ...headers },
  });

function expectLimited({ status, body, headers }: Answer): void {
  expect([status, body.error?.code]).toEqual([429, 'RATE_LIMITED']);
  const retryAfterS = Number(headers.get('retry-after'));
  expect(retryAfterS).toBeGreaterThan(0);
  expect(retryAfterS).toBeLessThanOrEqual(3600);
  expect(body.error.details).toEqual({ limit: 3, type: 'freeCalls', retryAfterS });
}
const statuses = (answers: readonly Answer[]) => answers.map(({ status }) => status).sort();
const useUp = async ({ key }: TestAccount, client: string) =>
  expect(statuses(await Promise.all([1, 2, 3].map(() => invoke(key, client, { 'x-sync': 'true' }))))).toEqual([
    200, 200, 200,
  ]);

it('free calls of an account are limited exactly, from any number of addresses, and begin anew after the hour', async () => {
  const { key } = await h.newAccount();
  const sent = free.calls.length;
  const answers = await Promise.all(Array.from({ length: 8 }, (_, at) => invoke(key, `203.0.113.${at + 1}`)));
  expect(statuses(answers)).toEqual([200, 200, 200, 429, 429, 429, 429, 429]);
  for (const refused of answers.filter(({ status }) => status === 429)) expectLimited(refused);
  await expect.poll(() => free.calls.length).toBe(sent + 3);
  const { limits } = (await h.request('GET', '/account/usage', { key })).body.data;
  expect(limits.freeCalls).toMatchObject({ limit: 3, used: 3, remaining: 0, resetAt: expect.any(String) });
  expect(limits.invocations.used).toBe(3);
  // What costs something is bounded by its price.
  expect((await invoke(key, '203.0.113.1', {}, paid)).status).toBe(402);
  clock.advance(3_600_001);
  expect((await invoke(key, '203.0.113.1')).status).toBe(200);
});

it('many accounts behind one network address share one limit of free calls, as do the hosts of a /64', async () => {
  const accounts = await Promise.all(Array.from({ length: 5 }, () => h.newAccount()));
  for (const of of [() => '198.51.100.7', (at: number) => `2001:db8:1:2::${at + 1}`]) {
    const answers = await Promise.all(accounts.map(({ key }, at) => invoke(key, of(at))));
    expect(statuses(answers)).toEqual([200, 200, 200, 429, 429]);
  }
  // What the address refused was not counted against the account.
  const [{ key } = { key: '' }] = accounts;
  expect((await invoke(key, '192.0.2.1')).status).toBe(200);
});

it('free calls beyond the limit are refused through every gateway, and as parts of bulk requests', async () => {
  const account = await h.newAccount();
  const { key } = account;
  const bulk = (size: number) =>
    h.request('POST', '/invoke/bulk', { key, body: { agents: Array(size).fill(free.id), task: 'x', strategy: 'all' } });
  await useUp(account, '192.0.2.20');
  const sent = free.calls.length;
  expectLimited(await invoke(key, '192.0.2.21'));
  expectLimited(
    await h.request('POST', '/invoke/auto', { key, body: { task: 'Please do some testing', maxCost: '0' } }),
  );
  expectLimited(await bulk(1));
  const chat = { model: free.id, messages: [{ role: 'user', content: 'x' }] };
  const completion = await h.request('POST', '/v1/chat/completions', { key, body: chat });
  expect([completion.status, completion.body.error.code]).toEqual([429, 'rate_limit_exceeded']);
  expect(Number(completion.headers.get('retry-after'))).toBeGreaterThan(0);
  const tool = await callTool(h.baseUrl, key, 'invoke_agent', { agentId: free.id, task: 'x', maxCost: '0' });
  expect(JSON.stringify(tool.body)).toContain('"type":"freeCalls"');
  const message = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'x' }] };
  const a2a = await h.request('POST', `/a2a/${free.id}`, {
    key,
    headers: { 'a2a-version': '1.0' },
    body: { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } },
  });
  expect(JSON.stringify(a2a.body)).toContain('RATE_LIMITED');
  expect(free.calls).toHaveLength(sent);
});

it('a call refused for another reason is not counted', async () => {
  const account = await h.newAccount();
  const body = { task: 'x', deadline: new Date(clock.now().getTime() - 1000).toISOString() };
  for (let tries = 0; tries < 4; tries += 1)
    expect((await h.request('POST', `/invoke/${free.id}`, { key: account.key, body })).status).toBe(400);
  const repeated = { 'idempotency-key': 'once' };
  const first = await invoke(account.key, '192.0.2.40', repeated);
  for (let tries = 0; tries < 4; tries += 1)
    expect((await invoke(account.key, '192.0.2.40', repeated)).body.data.requestId).toBe(first.body.data.requestId);
  expect((await invoke(account.key, '192.0.2.41')).status).toBe(200);
  expect((await invoke(account.key, '192.0.2.41')).status).toBe(200);
  expectLimited(await invoke(account.key, '192.0.2.41'));
});
