import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import type { Invocation } from '../../../src/calls/invocation.ts';
import { findInvocation } from '../../../src/calls/invocation-store.ts';
import { awaitInvocation } from '../../../src/calls/start/await-invocation.ts';
import type { Invoked } from '../../../src/calls/start/invoke-input.ts';
import { type Answer, type Harness, startHarness } from '../../support/harness.ts';
import { borrowHarness } from '../../support/lent-harness.ts';
import { answerWith, echo, startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { newClient, untilEnded } from '../../support/treasury.ts';
import { payV2, whenSettled } from '../../support/x402-payer.ts';

let h: Harness;
let agent: TestAgent;
beforeAll(async () => {
  h = await startHarness({ syncWaitMs: 150 });
  agent = await startTestAgent(h, { perRequest: '0.05' });
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

/** The agent answers when it is let go, later than any caller waits. */
function slowAgent() {
  const gate = Promise.withResolvers<void>();
  agent.behave(async (_request, response) => {
    await gate.promise;
    answerWith(200, { result: 'late' })({ headers: {}, body: null }, response);
  });
  return gate.resolve;
}

const paymentResponseOf = ({ headers }: Answer) =>
  JSON.parse(Buffer.from(headers.get('payment-response') ?? '', 'base64').toString());

const sync = { 'x-sync': 'true' };
const created = [
  ...['agentId', 'createdAt', 'deadline', 'estimatedCost', 'estimatedTime', 'requestId', 'requestedAgentId', 'status'],
];

it('a caller that waits is given the created shape when the time is up; the work goes on and ends as ever', async () => {
  const letGo = slowAgent();
  const { key } = await newClient(h, '1.00');
  const body = { task: 'x' };
  const headers = { ...sync, 'idempotency-key': 'slow' };
  const early = await h.request('POST', `/invoke/${agent.id}`, { key, body, headers });
  expect([early.status, Object.keys(early.body.data).sort()]).toEqual([200, created]);
  expect(early.body.data.status).toBe('processing');
  letGo();
  const { requestId } = early.body.data;
  expect(await untilEnded(h, key, requestId)).toMatchObject({ status: 'completed', result: 'late', cost: '0.05' });
  expect((await h.request('POST', `/invoke/${agent.id}`, { key, body, headers })).body).toEqual(early.body);
});

it('a caller that paid by x402 gets it too, with the settlement; presenting the payment later returns the result', async () => {
  const letGo = slowAgent();
  const { key } = await h.newAccount();
  const wallet = await h.newWallet(50_000n);
  const call = (headers: Record<string, string> = {}) =>
    h.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'x' }, headers });
  const payment = await payV2(h, wallet, await call());
  const early = await whenSettled(() => call(payment));
  expect([early.status, Object.keys(early.body.data).sort()]).toEqual([200, created]);
  expect(early.headers.get('payment-response')).not.toBeNull();
  letGo();
  await untilEnded(h, key, early.body.data.requestId);
  const late = await call(payment);
  expect(late.body.data).toMatchObject({ status: 'completed', requestId: early.body.data.requestId, result: 'late' });
  // Only what has been delivered has a receipt.
  const { extensions, ...settled } = paymentResponseOf(late);
  expect(settled).toEqual(paymentResponseOf(early));
  expect(extensions['offer-receipt'].info.receipt.payload.transaction).toBe(settled.transaction);
});

it('a caller whose call is run by others reads it again when its state changes, not with each piece of its output', async () => {
  const letGo = slowAgent();
  const { key } = await newClient(h, '1.00');
  const begun = await h.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'x' } });
  const { requestId } = begun.body.data;
  const invocation = (await findInvocation(h.ctx.db, requestId)) as Invocation;
  const query = vi.spyOn(h.ctx.db, 'query');
  onTestFinished(() => query.mockRestore());
  const reads = () => query.mock.calls.filter(([name]) => name === 'find-invocation').length;
  const invoked = { invocation, ending: null, payment: null, deposit: null, isReplay: false } as unknown as Invoked;
  const waiting = awaitInvocation(h.ctx, invoked, 60_000);
  await expect.poll(reads).toBeGreaterThan(4);
  const before = reads();
  for (let position = 1; position <= 500; position++) {
    h.ctx.changeHub.changed(requestId, [{ position, type: 'invocation.chunk', data: {}, createdAt: new Date(0) }]);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(reads() - before).toBeLessThan(20);
  letGo();
  expect(await waiting).toMatchObject({ id: requestId, status: 'completed' });
});

it('a caller that need not wait so long has the result', async () => {
  agent.behave(echo);
  const { key } = await newClient(h, '1.00');
  const { body } = await h.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'x' }, headers: sync });
  expect(body.data).toMatchObject({ status: 'completed', result: { echo: 'x' } });
});

it('by default a caller waits for 30 s', async () => {
  const usual = await borrowHarness();
  expect(usual.ctx.syncWaitMs).toBe(30_000);
  await usual.stop();
});
