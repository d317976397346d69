import { parseUsdc } from '@agent-network/contracts/money';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { contradictions } from '../../../support/books.ts';
import { type Harness, startHarness, type TestWallet } from '../../../support/harness.ts';
import { startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { type Client, newClient } from '../../../support/treasury.ts';
import { payV2 } from '../../../support/x402-payer.ts';

let h: Harness;
let agent: TestAgent;
let client: Client;
let wallet: TestWallet;
let queueAgeMs: () => number;

beforeAll(async () => {
  // A burst is then refused after 500 ms: less, and a busy machine refuses what the test prepares.
  h = await startHarness({ env: { MAX_QUEUE_MS: '100' } });
  queueAgeMs = h.ctx.db.queueAgeMs;
  agent = await startTestAgent(h, { perRequest: '0.05' });
  client = await newClient(h, '1.00');
  wallet = await h.newWallet(parseUsdc('1.00'));
});
afterEach(() => {
  overload(false);
});
afterAll(async () => {
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  await agent.die();
  await h.stop();
});

/** With work that waits for the database, nothing that writes is started. */
const overload = (isOn: boolean) => {
  h.ctx.db.queueAgeMs = isOn ? () => 500 : queueAgeMs;
};
const sync = { 'x-sync': 'true' };
const invoke = (headers: Record<string, string> = {}) =>
  h.request('POST', `/invoke/${agent.id}`, {
    key: client.key,
    body: { task: 'hello' },
    headers: { ...sync, ...headers },
  });
const shed = {
  status: 503,
  body: { status: 'error', error: { code: 'UNAVAILABLE', details: { outcome: 'nothing' } } },
};

it('an overloaded node refuses what writes, and serves what reads: agents, requests, their cancelling', async () => {
  const { body } = await invoke();
  const ran = agent.calls.length;
  overload(true);
  const [call, registration, found, request, ready, cancelled] = await Promise.all([
    invoke(),
    h.request('POST', '/webhooks', { key: client.key, body: {} }),
    h.request('GET', `/agents/${agent.id}`),
    h.request('GET', `/invoke/${body.data.requestId}`, { key: client.key }),
    h.request('GET', '/readyz'),
    h.request('POST', `/invoke/${body.data.requestId}/cancel`, { key: client.key }),
  ]);
  expect([call, registration]).toMatchObject([shed, shed]);
  expect(call.headers.get('retry-after')).toMatch(/^([5-9]|10)$/);
  expect([found.status, request.status, ready.status]).toEqual([200, 200, 200]);
  // It has ended: what matters is that its handler answered.
  expect(cancelled.status).not.toBe(503);
  expect(agent.calls.length).toBe(ran);
});

it('a read never waits for a connection behind what writes', async () => {
  const { body } = await invoke();
  const { pool } = h.ctx.db;
  const lent = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()));
  try {
    const found = await Promise.all([
      h.request('GET', `/agents/${agent.id}`),
      h.request('GET', `/invoke/${body.data.requestId}`, { key: client.key }),
      h.request('POST', '/agents/search', { body: { query: { text: 'echo' } } }),
    ]);
    expect(found.map(({ status }) => status)).toEqual([200, 200, 200]);
  } finally {
    for (const connection of lent) connection.release();
  }
});

it('a payment that came with a refused call is not touched, and pays when the call is repeated, once', async () => {
  const byX402 = { 'x-payment-method': 'x402' };
  const payment = { ...byX402, ...(await payV2(h, wallet, await invoke(byX402))) };
  const before = await h.usdcOf(wallet.address);
  overload(true);
  expect(await invoke(payment)).toMatchObject(shed);
  expect(await h.usdcOf(wallet.address)).toBe(before);
  overload(false);
  const [first, second] = [await invoke(payment), await invoke(payment)];
  expect([first.status, second.status, second.body.data.requestId]).toEqual([200, 200, first.body.data.requestId]);
  expect(before - (await h.usdcOf(wallet.address))).toBe(parseUsdc('0.05'));
});
