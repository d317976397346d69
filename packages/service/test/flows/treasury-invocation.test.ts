import { formatUsdc, parseUsdc } from '@agent-network/contracts/money';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { contradictions } from '../support/books.ts';
import { beforeDeadline } from '../support/deadline.ts';
import type { Harness } from '../support/harness.ts';
import { borrowHarness } from '../support/lent-harness.ts';
import { answerWith, echo, startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { balanceOf, type Client, newClient, sumOfHistory, untilEnded } from '../support/treasury.ts';

let h: Harness;
let owner: Client;
let client: Client;
let agent: TestAgent;
const sync = { 'x-sync': 'true' };

beforeAll(async () => {
  h = await borrowHarness();
  owner = await newClient(h, '0.000001');
  agent = await startTestAgent(h, { owner, perRequest: '0.05' });
});
beforeEach(async () => {
  agent.behave(echo);
  client = await newClient(h, '1.00');
});
afterEach(async () => {
  for (const { key } of [client, owner]) {
    const { available, held } = await balanceOf(h, key);
    expect(formatUsdc(await sumOfHistory(h, key))).toBe(formatUsdc(parseUsdc(available) + parseUsdc(held)));
  }
  expect(await contradictions(h.databaseUrl)).toEqual([]);
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

const invoke = (body: object, headers: Record<string, string> = {}, query = '') =>
  h.request('POST', `/invoke/${agent.id}${query}`, { key: client.key, body: { task: 'hello', ...body }, headers });
const earned = async () => parseUsdc((await balanceOf(h, owner.key)).available);

describe('a call paid from a treasury', () => {
  it('of an agent to itself completes, and no account pays itself', async () => {
    await invoke({}, sync);
    const before = await earned();
    const { body } = await h.request('POST', `/invoke/${agent.id}`, {
      ...{ key: agent.identityToken, body: { task: 'again' } },
      headers: { ...sync, 'x-payment-method': 'treasury' },
    });
    expect(body.data).toMatchObject({ status: 'completed', cost: '0.00' });
    expect(await earned()).toBe(before);
  });

  it('sync: answers the result, takes exactly the price, and the agent gains exactly that', async () => {
    const before = await earned();
    const { status, body } = await invoke({ input: { a: 1 } }, sync);
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      status: 'completed',
      result: { echo: 'hello', input: { a: 1 } },
      cost: '0.05',
      refund: '0.00',
      paymentMethod: 'treasury',
      paymentHash: null,
      error: null,
    });
    expect(await balanceOf(h, client.key)).toEqual({ available: '0.95', held: '0.00' });
    expect((await earned()) - before).toBe(50_000n);
  });

  it('async: answers at once, holds the price while the agent works, and the result is there to be fetched', async () => {
    const gate = Promise.withResolvers<void>();
    agent.behave(async (request, response) => {
      await gate.promise;
      await echo(request, response);
    });
    const { status, body } = await invoke({});
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ status: 'processing', estimatedCost: '0.05', agentId: agent.id });
    expect(await balanceOf(h, client.key)).toEqual({ available: '0.95', held: '0.05' });
    expect((await h.request('GET', `/invoke/${body.data.requestId}`, { key: client.key })).body.data).toMatchObject({
      status: 'processing',
      result: null,
      cost: null,
      completedAt: null,
    });
    gate.resolve();
    expect(await untilEnded(h, client.key, body.data.requestId)).toMatchObject({
      status: 'completed',
      cost: '0.05',
      result: { echo: 'hello' },
    });
    expect(await balanceOf(h, client.key)).toEqual({ available: '0.95', held: '0.00' });
  });

  it('charges less when the agent names less, and the rest is free again at once', async () => {
    agent.behave(answerWith(200, { result: 'cheap', cost: '0.012345' }));
    const { body } = await invoke({}, sync);
    expect(body.data).toMatchObject({ status: 'completed', cost: '0.012345', refund: '0.037655' });
    expect(await balanceOf(h, client.key)).toEqual({ available: '0.987655', held: '0.00' });
  });

  it('charges nothing when the agent names nothing, and the result is still delivered', async () => {
    agent.behave(answerWith(200, { result: 'gift', cost: '0' }));
    const { body } = await invoke({}, sync);
    expect(body.data).toMatchObject({ status: 'completed', result: 'gift', cost: '0.00', refund: '0.05' });
    expect(await balanceOf(h, client.key)).toEqual({ available: '1.00', held: '0.00' });
  });

  it('charges the price when the agent claims more', async () => {
    agent.behave(answerWith(200, { result: 'greedy', cost: '999999.99' }));
    const { body } = await invoke({}, sync);
    expect(body.data).toMatchObject({ status: 'completed', cost: '0.05', refund: '0.00' });
    expect(await balanceOf(h, client.key)).toEqual({ available: '0.95', held: '0.00' });
  });

  it('is refused before anything happens when maxCost is below the price, and runs when it equals it', async () => {
    const calls = agent.calls.length;
    const refused = await invoke({ maxCost: '0.049999' }, sync);
    expect(refused).toMatchObject({ status: 400, body: { error: { code: 'VALIDATION_ERROR' } } });
    expect(agent.calls.length).toBe(calls);
    expect(await balanceOf(h, client.key)).toEqual({ available: '1.00', held: '0.00' });
    expect((await invoke({ maxCost: '0.050000' }, sync)).body.data).toMatchObject({
      status: 'completed',
      cost: '0.05',
    });
  });

  it('fails at its deadline, says so, and gives the money back', async () => {
    agent.behave(() => undefined);
    const data = await beforeDeadline(300, async (deadline) => (await invoke({ deadline }, sync)).body.data ?? null);
    expect(data).toMatchObject({
      status: 'failed',
      cost: '0.00',
      refund: '0.05',
      error: { code: 'deadline_exceeded' },
    });
    expect(await balanceOf(h, client.key)).toEqual({ available: '1.00', held: '0.00' });
  });
});

describe('a free call', () => {
  it('runs without a treasury and without a payment, and moves no money', async () => {
    const free = await startTestAgent(h, { owner, perRequest: '0' });
    const { key } = await h.newAccount();
    const before = await earned();
    const { status, body } = await h.request('POST', `/invoke/${free.id}`, {
      key,
      body: { task: 'gratis' },
      headers: sync,
    });
    expect({ status, data: body.data }).toMatchObject({
      status: 200,
      data: { status: 'completed', cost: '0.00', paymentMethod: 'free', paymentHash: null, result: { echo: 'gratis' } },
    });
    expect(await earned()).toBe(before);
    await free.die();
  });
});
