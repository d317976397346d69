import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { contradictions } from '../../support/books.ts';
import { callAndDie } from '../../support/dying-process.ts';
import type { Harness } from '../../support/harness.ts';
import { answerWith, echo, startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { balanceOf, type Client, newClient } from '../../support/treasury.ts';
import { until } from '../../support/until.ts';
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
  const came = async () => agents.reduce((sum, { calls }) => sum + calls.length, 0) >= times;
  await until(came);
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
  const bulk = await until(ask);
  expect(bulk).toMatchObject({ status: 'completed', winner: data.requests[1].requestId, result: 'won', cost: '0.05' });
  expect(bulk.requests.map(({ status }: { status: string }) => status)).toEqual([
    'cancelled',
    'completed',
    'cancelled',
  ]);
  expect(await balanceOf(h, client.key)).toEqual({ available: '0.95', held: '0.00' });
});

it('a repetition finds the call of a process killed before its answer: one run, one charge, even with a second payment', async () => {
  silence();
  const [agent, paid] = agents as [TestAgent, TestAgent];
  const options = { key: client.key, body: { task: 'x' }, headers: { ...headers, 'x-sync': 'true' } };
  const { key } = await h.newAccount();
  const wallet = await h.newWallet(1_000_000n);
  const pay = async () =>
    payV2(h, wallet, await h.request('POST', `/invoke/${paid.id}`, { key, body: { task: 'x' }, headers }));
  const payments = [await pay(), await pay()];
  const [first, second] = payments.map((payment) => ({
    key,
    body: { task: 'x' },
    headers: { ...headers, ...payment },
  }));
  const mortal = await startMortalNode(h);
  const lost = Promise.all([
    mortal.request('POST', `/invoke/${agent.id}`, options).catch(() => null),
    mortal.request('POST', `/invoke/${paid.id}`, first).catch(() => null),
  ]);
  await untilCalled(2);
  const running = await h.request('POST', `/invoke/${agent.id}`, options);
  const error = { code: 'CONFLICT', details: { reason: 'still_running' } };
  expect(running).toMatchObject({ status: 409, body: { error } });
  await mortal.kill();
  expect(await lost).toEqual([null, null]);
  for (const each of [agent, paid]) each.behave(echo);
  const paidAgain = h.request('POST', `/invoke/${paid.id}`, second);
  const other = await h.request('POST', `/invoke/${agent.id}`, { ...options, body: { task: 'other' } });
  expect([other.status, other.body.error.code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
  const found = await h.request('POST', `/invoke/${agent.id}`, options);
  for (const [{ calls }, answer] of [
    [agent, found],
    [paid, await paidAgain],
  ] as const) {
    expect(answer.body).toMatchObject({ data: { status: 'completed', result: { echo: 'x' } } });
    expect(answer.body.data.requestId).toBe(calls[0]?.body.request_id);
    expect(new Set(calls.map((call) => call.headers['idempotency-key'])).size).toBe(1);
  }
  expect(await balanceOf(h, client.key)).toEqual({ available: '0.95', held: '0.00' });
  expect(await h.usdcOf(wallet.address)).toBe(950_000n);
  for (const each of [client.key, key])
    expect((await h.request('GET', '/invoke/history', { key: each })).body.data.total).toBe(1);
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
