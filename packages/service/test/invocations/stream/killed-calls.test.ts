import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { until } from '../../../src/lib/concurrency/until.ts';
import { contradictions } from '../../support/books.ts';
import { callAndDie } from '../../support/dying-process.ts';
import type { Harness } from '../../support/harness.ts';
import { answerWith, echo, startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { balanceOf, type Client, newClient, untilEnded } from '../../support/treasury.ts';
import { payV2 } from '../../support/x402-payer.ts';
import { startJoinableHarness, startMortalNode } from './support/second-node.ts';

let h: Harness;
let agents: TestAgent[];
let client: Client;
beforeAll(async () => {
  h = await startJoinableHarness();
  agents = await Promise.all(Array.from({ length: 3 }, () => startTestAgent(h, { perRequest: '0.05' })));
});
beforeEach(async () => {
  client = await newClient(h, '1.00');
});
afterAll(async () => {
  await Promise.all(agents.map((agent) => agent.die()));
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  await h.stop();
});

/** Every agent is silent; resolves when as many calls have come. */
async function untilCalled(times: number) {
  const came = async () => (agents.reduce((sum, { calls }) => sum + calls.length, 0) >= times ? true : null);
  expect(await until(came, { timeoutMs: 8000, firstMs: 5, mostMs: 20 })).toBe(true);
}
const silence = () => {
  for (const agent of agents) {
    agent.calls.length = 0;
    agent.behave(() => undefined);
  }
};
const headers = { 'idempotency-key': 'k-1' };

it('a bulk request whose process is killed is decided by its rule elsewhere, and its repetition finds it', async () => {
  silence();
  const body = { task: 'x', agents: agents.map(({ id }) => id), strategy: 'first_success' };
  const mortal = await startMortalNode(h);
  const first = mortal.request('POST', '/invoke/bulk', { key: client.key, body, headers });
  const { data } = (await first).body;
  await untilCalled(3);
  await mortal.kill();
  agents[1]?.behave(answerWith(200, { result: 'won' }));
  const ask = async () => {
    const bulk = (await h.request('GET', `/invoke/bulk/${data.bulkId}`, { key: client.key })).body.data;
    return bulk.status === 'processing' ? null : bulk;
  };
  const bulk = await until(ask, { timeoutMs: 8000, firstMs: 5, mostMs: 50 });
  expect(bulk).toMatchObject({ status: 'completed', winner: data.requests[1].requestId, result: 'won', cost: '0.05' });
  expect(bulk.requests.map(({ status }: { status: string }) => status)).toEqual([
    'cancelled',
    'completed',
    'cancelled',
  ]);
  expect(await balanceOf(h, client.key)).toEqual({ available: '0.95', held: '0.00' });
});

it('a call whose process is killed before it answered is found by its repetition: one run, one charge', async () => {
  silence();
  const [agent] = agents as [TestAgent];
  const options = { key: client.key, body: { task: 'x' }, headers: { ...headers, 'x-sync': 'true' } };
  const mortal = await startMortalNode(h);
  const lost = mortal.request('POST', `/invoke/${agent.id}`, options).catch(() => null);
  await untilCalled(1);
  const running = await h.request('POST', `/invoke/${agent.id}`, options);
  expect([running.status, running.body.error.code]).toEqual([409, 'CONFLICT']);
  await mortal.kill();
  expect(await lost).toBeNull();
  agent.behave(echo);
  const other = await h.request('POST', `/invoke/${agent.id}`, { ...options, body: { task: 'other' } });
  expect([other.status, other.body.error.code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
  const found = await h.request('POST', `/invoke/${agent.id}`, options);
  expect(found.body.data).toMatchObject({ status: 'completed', result: { echo: 'x' } });
  expect(found.body.data.requestId).toBe(agent.calls[0]?.body.request_id);
  expect(new Set(agent.calls.map((call) => call.headers['idempotency-key'])).size).toBe(1);
  expect(await balanceOf(h, client.key)).toEqual({ available: '0.95', held: '0.00' });
  const { total } = (await h.request('GET', '/invoke/history', { key: client.key })).body.data;
  expect(total).toBe(1);
});

it('a bulk request whose process is killed before it answered is found by its repetition', async () => {
  silence();
  const body = { task: 'x', agents: agents.map(({ id }) => id) };
  const options = { key: client.key, body, headers };
  const made = (await callAndDie(h, '/invoke/bulk', options)).body.data;
  await untilCalled(3);
  const found = await h.request('POST', '/invoke/bulk', options);
  expect([found.status, found.body.data.bulkId, found.body.data.requests]).toEqual([200, made.bulkId, made.requests]);
  const { total } = (await h.request('GET', '/invoke/history', { key: client.key })).body.data;
  expect(total).toBe(3);
  await Promise.all(
    made.requests.map(({ requestId }: { requestId: string }) =>
      h.request('POST', `/invoke/${requestId}/cancel`, { key: client.key }),
    ),
  );
});

it('a paid call whose process is killed: a second payment under the same key is never taken', async () => {
  silence();
  const [agent] = agents as [TestAgent];
  const { key } = await h.newAccount();
  const wallet = await h.newWallet(1_000_000n);
  const body = { task: 'x' };
  const unpaid = await h.request('POST', `/invoke/${agent.id}`, { key, body, headers });
  const offered = await h.request('POST', `/invoke/${agent.id}`, { key, body, headers });
  const [pay1, pay2] = [await payV2(h, wallet, unpaid), await payV2(h, wallet, offered)];
  const mortal = await startMortalNode(h);
  const lost = mortal
    .request('POST', `/invoke/${agent.id}`, { key, body, headers: { ...headers, ...pay1 } })
    .catch(() => null);
  await untilCalled(1);
  await mortal.kill();
  await lost;
  agent.behave(echo);
  const again = await h.request('POST', `/invoke/${agent.id}`, { key, body, headers: { ...headers, ...pay2 } });
  expect(again.body.data).toMatchObject({ status: 'completed', requestId: agent.calls[0]?.body.request_id });
  expect(await h.usdcOf(wallet.address)).toBe(950_000n);
  await untilEnded(h, key, again.body.data.requestId);
});
