import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { answerTo } from '../../src/calls/start/require-payable.ts';
import { contradictions } from '../support/books.ts';
import type { Harness } from '../support/harness.ts';
import { borrowHarness } from '../support/lent-harness.ts';
import { answerWith, echo, startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { balanceOf, deposit, newClient, untilEnded } from '../support/treasury.ts';
import { until } from '../support/until.ts';
import { payV2 } from '../support/x402-payer.ts';

let h: Harness;
let agent: TestAgent;
beforeAll(async () => {
  h = await borrowHarness();
  agent = await startTestAgent(h, { perRequest: '0.05' });
});
afterEach(async () => {
  agent.behave(echo);
  expect(await contradictions(h.databaseUrl)).toEqual([]);
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

const invoke = (key: string, agentId = agent.id, headers: Record<string, string> = {}) =>
  h.request('POST', `/invoke/${agentId}`, { key, body: { task: 'x' }, headers });

describe('a treasury that cannot pay', () => {
  it('says what is required and what is available, and nothing runs', async () => {
    const { key } = await newClient(h, '0.049999');
    const calls = agent.calls.length;
    expect(await invoke(key)).toMatchObject({
      status: 422,
      body: { error: { code: 'INSUFFICIENT_FUNDS', details: { required: '0.05', available: '0.049999' } } },
    });
    expect(agent.calls.length).toBe(calls);
    expect(await balanceOf(h, key)).toEqual({ available: '0.049999', held: '0.00' });
  });

  it('returns 402 with terms when it is empty, as without a treasury; 422 when it is forced or too low', async () => {
    const { key } = await h.newAccount();
    await h.request('POST', '/payments/treasury', { key, body: {} });
    const unpaid = await invoke(key);
    expect(unpaid).toMatchObject({ status: 402, body: { error: { code: 'PAYMENT_REQUIRED' } } });
    const paid = await invoke(key, agent.id, await payV2(h, await h.newWallet(1_000_000n), unpaid));
    expect(paid.body.data).toMatchObject({ status: 'completed', paymentMethod: 'x402' });
    const forced = await invoke(key, agent.id, { 'x-payment-method': 'treasury' });
    expect(forced).toMatchObject({ status: 422, body: { error: { code: 'INSUFFICIENT_FUNDS' } } });
    const emptied = await newClient(h, '0.05');
    expect((await invoke(emptied.key)).status).toBe(200);
    const free = await startTestAgent(h, { perRequest: '0.05' });
    await untilEnded(
      h,
      emptied.key,
      (await h.request('GET', '/invoke/history', { key: emptied.key })).body.data.requests[0].requestId,
    );
    expect((await invoke(emptied.key, free.id)).status).toBe(402);
    await free.die();
    for (const [funds, open] of [
      ['none', 'terms'],
      ['empty', 'terms'],
      ['short', 'refusal'],
    ] as const)
      expect(answerTo[funds]).toEqual({ open, treasury: 'refusal' });
  });

  it('names no balance when there is no treasury', async () => {
    const { key } = await h.newAccount();
    expect(await invoke(key, agent.id, { 'x-payment-method': 'treasury' })).toMatchObject({
      status: 422,
      body: { error: { code: 'INSUFFICIENT_FUNDS', details: { required: '0.05', available: '0.00' } } },
    });
  });

  it.each([
    ['waiting callers', { 'x-sync': 'true' }],
    ['callers who come back', {}],
  ])('runs exactly 20 of 50 calls at once when it holds money for 20 (%s)', async (_name, headers) => {
    const gate = Promise.withResolvers<void>();
    agent.behave(async (request, response) => {
      await gate.promise;
      await echo(request, response);
    });
    const calls = agent.calls.length;
    const { key } = await newClient(h, '1.04');
    let refusedCount = 0;
    const asked = Array.from({ length: 50 }, async () => {
      const answer = await invoke(key, agent.id, headers);
      if (answer.status === 422) refusedCount += 1;
      return answer;
    });
    const areIn = async () => refusedCount === 30 && agent.calls.length - calls === 20;
    await until(areIn);
    expect(await balanceOf(h, key)).toEqual({ available: '0.04', held: '1.00' });
    gate.resolve();
    const answers = await Promise.all(asked);
    const ran = answers.filter(({ status }) => status === 200);
    expect(ran.length).toBe(20);
    expect((await h.request('GET', '/invoke/history', { key })).body.data.total).toBe(20);
    for (const { body } of answers.filter(({ status }) => status === 422)) {
      expect(body.error.details.required).toBe('0.05');
      expect(Number(body.error.details.available)).toBeLessThan(0.05);
    }
    const ended = await Promise.all(ran.map(({ body }) => untilEnded(h, key, body.data.requestId)));
    expect(ended.map(({ status }) => status)).toEqual(Array(20).fill('completed'));
    expect(agent.calls.length - calls).toBe(20);
    expect(await balanceOf(h, key)).toEqual({ available: '0.04', held: '0.00' });
  });

  it('lets a cheap call through although a dear one of the same moment was refused', async () => {
    const dear = await startTestAgent(h, { perRequest: '5' });
    const { key } = await newClient(h, '0.10');
    const answers = await Promise.all([invoke(key), invoke(key, dear.id), invoke(key), invoke(key, dear.id)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 422, 200, 422]);
    await Promise.all(
      answers.filter(({ status }) => status === 200).map(({ body }) => untilEnded(h, key, body.data.requestId)),
    );
    await dear.die();
  });

  it('can pay again as soon as a failed call has given its money back', async () => {
    const { key } = await newClient(h, '0.05');
    agent.behave(answerWith(500, ''));
    for (let turn = 0; turn < 3; turn++)
      expect((await invoke(key, agent.id, { 'x-sync': 'true' })).body.data).toMatchObject({
        status: 'failed',
        refund: '0.05',
      });
    agent.behave(echo);
    expect((await invoke(key, agent.id, { 'x-sync': 'true' })).body.data).toMatchObject({
      status: 'completed',
      cost: '0.05',
    });
    expect((await invoke(key)).status).toBe(402);
  });
});

describe('an agent that calls an agent', () => {
  it('pays from its own treasury and gets the agent-to-agent form', async () => {
    const owner = await newClient(h, '0.50');
    const caller = await startTestAgent(h, { owner, perRequest: '0.01' });
    const { key, address } = await h.newAccount();
    const seller = await startTestAgent(h, { owner: { accountId: '', address, key }, perRequest: '0.05' });

    const short = await invoke(caller.identityToken, seller.id, { 'x-sync': 'true' });
    expect(short).toMatchObject({
      status: 422,
      body: { error: { code: 'INSUFFICIENT_BALANCE', details: { required: '0.05', available: '0.00' } } },
    });
    expect(await balanceOf(h, owner.key)).toEqual({ available: '0.50', held: '0.00' });

    const of = { agentId: caller.id };
    const { treasuryId } = (await h.request('POST', '/payments/treasury', { key: owner.key, body: of })).body.data;
    await deposit(h, owner.key, treasuryId, '0.08');
    const { status, body } = await invoke(caller.identityToken, seller.id, { 'x-sync': 'true' });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      result: { echo: 'x' },
      cost: '0.05',
      completion_time: expect.stringMatching(/^[\d.]+s$/),
      agent_id: seller.id,
      requestId: expect.stringMatching(/^req_/),
    });
    expect(await balanceOf(h, caller.identityToken)).toEqual({ available: '0.03', held: '0.00' });
    expect(await balanceOf(h, seller.identityToken)).toEqual({ available: '0.05', held: '0.00' });
    expect((await invoke(caller.identityToken, seller.id)).body.error).toMatchObject({
      code: 'INSUFFICIENT_BALANCE',
      details: { required: '0.05', available: '0.03' },
    });
    await caller.die();
    await seller.die();
  });
});
