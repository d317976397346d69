import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readTerms } from '../../src/agents/read-terms.ts';
import { findChanged } from '../../src/calls/start/choose-agent.ts';
import { contradictions } from '../support/books.ts';
import type { Harness } from '../support/harness.ts';
import { borrowHarness } from '../support/lent-harness.ts';
import { answerWith, echo, startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { balanceOf, newClient } from '../support/treasury.ts';
import { payV1, payV2 } from '../support/x402-payer.ts';

let h: Harness;
let agent: TestAgent;
let owner: Awaited<ReturnType<Harness['newAccount']>>;
beforeAll(async () => {
  h = await borrowHarness();
  owner = await h.newAccount();
  agent = await startTestAgent(h, { owner, perRequest: '0.05' });
});
afterAll(async () => {
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  await agent.die();
  await h.stop();
});

const quoteFor = async (key: string) =>
  (await h.request('POST', `/invoke/${agent.id}/quote`, { key, body: { task: 'work' } })).body.data;
const invoke = (key: string, acceptUrl: string, headers: Record<string, string> = {}) =>
  h.request('POST', acceptUrl, { key, body: { task: 'work' }, headers: { 'x-sync': 'true', ...headers } });

describe('a quote', () => {
  it('of ten callers at once serves exactly one, and charges once', async () => {
    const { key } = await newClient(h, '1.00');
    const { acceptUrl } = await quoteFor(key);
    const calls = agent.calls.length;
    const answers = await Promise.all(Array.from({ length: 10 }, () => invoke(key, acceptUrl)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(409)]);
    expect(agent.calls.length - calls).toBe(1);
    expect(await balanceOf(h, key)).toEqual({ available: '0.95', held: '0.00' });
  });

  it('holds its price when the agent changes its own, in both directions', async () => {
    const { key } = await newClient(h, '1.00');
    const reprice = (perRequest: string) =>
      h.request('PUT', `/agents/${agent.id}`, { key: owner.key, body: { rates: { perRequest } } });
    const cheap = await quoteFor(key);
    expect((await reprice('0.50')).status).toBe(200);
    const dear = await quoteFor(key);
    expect([cheap.estimatedCost, dear.estimatedCost]).toEqual(['0.05', '0.50']);
    expect((await invoke(key, cheap.acceptUrl)).body.data).toMatchObject({ status: 'completed', cost: '0.05' });
    expect((await reprice('0.05')).status).toBe(200);
    expect((await invoke(key, dear.acceptUrl)).body.data).toMatchObject({ status: 'completed', cost: '0.50' });
    expect(await balanceOf(h, key)).toEqual({ available: '0.45', held: '0.00' });
  });

  it('is still good when the call that wanted it could not pay', async () => {
    const { key, treasuryId } = await newClient(h, '0.01');
    const { acceptUrl } = await quoteFor(key);
    expect((await invoke(key, acceptUrl)).body.error.code).toBe('INSUFFICIENT_FUNDS');
    const wallet = await h.newWallet(1_000_000n);
    const unpaid = await invoke(key, acceptUrl, { 'x-payment-method': 'x402' });
    const paid = await invoke(key, acceptUrl, await payV2(h, wallet, unpaid));
    expect(paid.body.data).toMatchObject({ status: 'completed', cost: '0.05', paymentMethod: 'x402' });
    expect(treasuryId).toMatch(/^trs_/);
  });

  it.each([
    ['v2', payV2],
    ['v1', payV1],
  ])(
    'paid by x402 %s, shown 8 times at once among other calls, is one run and eight equal answers',
    async (_version, pay) => {
      const { key } = await newClient(h, '1.00');
      const wallet = await h.newWallet(1_000_000n);
      const { acceptUrl } = await quoteFor(key);
      const unpaid = await invoke(key, acceptUrl, { 'x-payment-method': 'x402' });
      const headers = await pay(h, wallet, unpaid);
      const busy = Array.from({ length: 10 }, () => invoke(key, `/invoke/${agent.id}`));
      const answers = await Promise.all(Array.from({ length: 8 }, () => invoke(key, acceptUrl, headers)));
      await Promise.all(busy);
      expect(answers.map(({ status, body }) => [status, body.error?.code])).toEqual(Array(8).fill([200, undefined]));
      expect(new Set(answers.map(({ body }) => JSON.stringify(body.data))).size).toBe(1);
      expect(await h.usdcOf(wallet.address)).toBe(950_000n);
    },
  );
});

describe('an agent with a price by units', () => {
  const perUnit = { price: '0.02', unit: 'page', count: '/pages', measure: 'number', maximum: '0.50' };
  let pager: TestAgent;
  beforeAll(async () => {
    pager = await startTestAgent(h, { owner, perRequest: '0.05', metadata: { perUnit } });
  });
  afterAll(() => pager.die());
  const ask = (
    key: string | undefined,
    path: string,
    pages: number,
    headers: Record<string, string> = {},
    most?: string,
  ) =>
    h.request('POST', path, {
      key,
      body: { task: 'read', input: { pages }, ...(most ? { maxCost: most } : {}) },
      headers: { 'x-sync': 'true', ...headers },
    });

  it('explains its price in quotes, and charges it', async () => {
    const { key } = await newClient(h, '2.00');
    const path = `/invoke/${pager.id}`;
    const { breakdown, estimatedCost, acceptUrl } = (await ask(key, `${path}/quote`, 7)).body.data;
    expect(estimatedCost).toBe('0.14');
    expect(breakdown).toEqual({
      base_fee: '0.05',
      complexity_multiplier: '1.0x',
      units: { unit: 'page', count: 7, price: '0.02', amount: '0.14', maximum: '0.50' },
      total: '0.14',
      explanation: 'the higher of 0.05 per request, and 7 × 0.02 per page, at most 0.50 = 0.14 USDC',
    });
    const refused = await ask(key, acceptUrl, 8);
    expect([refused.status, refused.body.error.details.fields[0].message]).toEqual([
      400,
      expect.stringMatching(/fewer units/),
    ]);
    expect((await ask(key, acceptUrl, 7)).body.data).toMatchObject({ status: 'completed', cost: '0.14' });
    for (const [pages, cost] of [
      [1, '0.05'],
      [10, '0.20'],
      [1000, '0.50'],
    ] as const)
      expect((await ask(key, path, pages)).body.data).toMatchObject({ status: 'completed', cost });
    expect(await balanceOf(h, key)).toEqual({ available: '1.11', held: '0.00' });
    const bulk = { task: 'read', input: { pages: 10 }, agents: [pager.id], maxCostPerAgent: '0.19' };
    expect((await h.request('POST', '/invoke/bulk', { key, body: bulk })).body.error.message).toMatch(
      /below the price of 0.20/,
    );
  });

  it('is not called for many units with the offer, signed, for few', async () => {
    const path = `/x402/${pager.id}`;
    const wallet = await h.newWallet(1_000_000n);
    const few = await ask(undefined, path, 5);
    expect(few.body.error.payment.amount).toBe('0.10');
    const headers = await payV2(h, wallet, few);
    const calls = pager.calls.length;
    const many = await ask(undefined, path, 20, headers);
    expect([many.status, many.body.error.payment.amount]).toEqual([402, '0.40']);
    expect(pager.calls.length).toBe(calls);
    expect((await ask(undefined, path, 5, headers)).body.data).toMatchObject({ status: 'completed', cost: '0.10' });
    expect(await h.usdcOf(wallet.address)).toBe(900_000n);
  });

  it('charges what it reports, at most the price', async () => {
    const { key } = await newClient(h, '1.00');
    pager.behave(answerWith(200, { result: 1, cost: '0.07' }));
    expect((await ask(key, `/invoke/${pager.id}`, 10)).body.data.cost).toBe('0.07');
    pager.behave(answerWith(200, { result: 1, cost: '9.00' }));
    expect((await ask(key, `/invoke/${pager.id}`, 10)).body.data.cost).toBe('0.20');
    pager.behave(echo);
  });

  it('costs the new price when it changes between the decision and the acceptance', async () => {
    const { key } = await newClient(h, '1.00');
    const reprice = (price: string) =>
      h.request('PUT', `/agents/${pager.id}`, {
        key: owner.key,
        body: { metadata: { perUnit: { ...perUnit, price } } },
      });
    expect((await ask(key, `/invoke/${pager.id}`, 10)).body.data.cost).toBe('0.20');
    // Another process may have changed the row: the copy in memory is as it was.
    const id = pager.id;
    const before = await h.ctx.agentFinder.find(id);
    expect((await reprice('0.03')).status).toBe(200);
    const [terms] = await h.ctx.db.transaction(async (tx) => [...(await readTerms(tx, [id])).values()]);
    expect(terms?.perUnit).toEqual({ ...perUnit, price: '0.03' });
    expect(before?.perUnit).toEqual(perUnit);
    const sale = before && { agent: before, isPriceLocked: false, steadyFor: null };
    if (!sale) throw new Error('the agent is gone');
    expect((await h.ctx.db.transaction((tx) => findChanged(h.ctx, tx, [sale]))).has(sale)).toBe(true);
    // A raised price has to be agreed to.
    expect((await ask(key, `/invoke/${id}`, 10, {}, '0.30')).body.data.cost).toBe('0.30');
    await reprice('0.02');
  });

  it('that cannot be counted is a 400 before there is a price, at every way in', async () => {
    const { key } = await newClient(h, '1.00');
    const calls = pager.calls.length;
    for (const pages of ['1000', [1000], -1000, true, null, undefined, { length: 1000 }]) {
      const body = { task: 'read', input: { pages } };
      const bulk = { ...body, agents: [pager.id] };
      const answers = await Promise.all([
        h.request('POST', `/invoke/${pager.id}/quote`, { key, body }),
        h.request('POST', `/invoke/${pager.id}`, { key, body, headers: { 'x-sync': 'true' } }),
        h.request('POST', `/invoke/${pager.id}`, { key, body: { ...body, fallback: true } }),
        h.request('POST', `/invoke/${pager.id}`, { key, body, headers: { 'x-payment-method': 'x402' } }),
        h.request('POST', `/x402/${pager.id}`, { body }),
        h.request('POST', '/invoke/bulk', { key, body: bulk }),
      ]);
      expect(answers.map(({ status, body: { error } }) => [status, error?.details.fields[0].path])).toEqual(
        answers.map(() => [400, 'input.pages']),
      );
    }
    const endless = {
      text: '{"task":"read","input":{"pages":1e400}}',
      headers: { 'content-type': 'application/json' },
    };
    expect((await h.request('POST', `/invoke/${pager.id}`, { key, ...endless })).status).toBe(400);
    expect(pager.calls.length).toBe(calls);
    expect(await balanceOf(h, key)).toEqual({ available: '1.00', held: '0.00' });
  });

  it('a quote is for what it counted, whatever the agent counts later', async () => {
    const { key } = await newClient(h, '1.00');
    const declare = (change: object) =>
      h.request('PUT', `/agents/${pager.id}`, { key: owner.key, body: { metadata: { perUnit: change } } });
    const { acceptUrl } = (await ask(key, `/invoke/${pager.id}/quote`, 7)).body.data;
    expect((await declare({ ...perUnit, count: '/task', measure: 'characters' })).status).toBe(200);
    const body = { task: 'read', input: { pages: '1000', task: '' } };
    const refused = await h.request('POST', acceptUrl, { key, body });
    expect([refused.status, refused.body.error.details.fields[0]]).toEqual([
      400,
      { path: 'quote', message: expect.stringMatching(/cannot be counted/) },
    ]);
    expect((await declare(perUnit)).status).toBe(200);
    expect((await ask(key, acceptUrl, 7)).body.data).toMatchObject({ status: 'completed', cost: '0.14' });
  });

  it('is declared with what is counted, and one of before counts by the JSON type', async () => {
    const { measure: _, ...before } = perUnit;
    const { status, body } = await h.request('PUT', `/agents/${pager.id}`, {
      key: owner.key,
      body: { metadata: { perUnit: before } },
    });
    expect([status, body.error.details.fields[0].path]).toEqual([400, 'metadata.perUnit.measure']);
    const { key } = await newClient(h, '1.00');
    const old = await startTestAgent(h, { owner, perRequest: '0.05', metadata: { perUnit } });
    const db = h.ctx.db;
    await db.query(
      'forget-measure',
      `update agent set metadata = (metadata::jsonb #- '{perUnit,measure}')::json where id = $1`,
      [old.id],
    );
    h.ctx.agentFinder.forget(old.id);
    const costOf = async (pages: unknown) =>
      (await h.request('POST', `/invoke/${old.id}/quote`, { key, body: { task: 'read', input: { pages } } })).body.data
        ?.estimatedCost;
    expect([await costOf(7), await costOf(['a', 'b', 'c']), await costOf('seven'), await costOf(true)]).toEqual([
      '0.14',
      '0.06',
      '0.10',
      undefined,
    ]);
    await old.die();
  });

  it('with a pointer that is none is refused', async () => {
    const body = { metadata: { perUnit: { ...perUnit, count: 'pages' } } };
    const { status, body: answer } = await h.request('PUT', `/agents/${pager.id}`, { key: owner.key, body });
    expect([status, answer.error.details.fields[0].path]).toEqual([400, 'metadata.perUnit.count']);
  });
});
