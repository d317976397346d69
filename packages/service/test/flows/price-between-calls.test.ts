import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contradictions } from '../support/books.ts';
import type { Harness, TestAccount } from '../support/harness.ts';
import { borrowHarness } from '../support/lent-harness.ts';
import { startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { balanceOf, newClient } from '../support/treasury.ts';

let h: Harness;
let owner: TestAccount;
let agent: TestAgent;
beforeAll(async () => {
  h = await borrowHarness();
  owner = await h.newAccount();
});
afterAll(async () => {
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  await h.stop();
});

const start = async (metadata: object = {}) => {
  agent = await startTestAgent(h, { owner, perRequest: '0.01', metadata: { ...metadata } });
  return agent;
};
const reprice = async (perRequest: string, metadata?: object) =>
  expect(
    (
      await h.request('PUT', `/agents/${agent.id}`, {
        key: owner.key,
        body: { rates: { perRequest }, ...(metadata ? { metadata } : {}) },
      })
    ).status,
  ).toBe(200);
const call = async (key: string, body: object = {}, path = `/invoke/${agent.id}`) => {
  const { status, body: answer } = await h.request('POST', path, {
    key,
    body: { task: 'x', ...body },
    headers: { 'x-sync': 'true' },
  });
  return status === 200 ? answer.data.cost : [status, answer.error.code, answer.error.details];
};
const raised = (price: string, lastPrice: string) => [409, 'CONFLICT', { reason: 'price_raised', price, lastPrice }];

describe('a price that is raised between two calls', () => {
  it('is not paid by a treasury unless the caller names it, at any way in', async () => {
    await start();
    const { key } = await newClient(h, '60.00');
    expect(await call(key)).toBe('0.01');
    await reprice('19.99');
    const completion = { model: agent.id, messages: [{ role: 'user', content: 'x' }] };
    const bulk = { task: 'x', agents: [agent.id] };
    const viaOpenAi = await h.request('POST', '/v1/chat/completions', { key, body: completion });
    expect([viaOpenAi.status, viaOpenAi.body.error.message]).toEqual([409, expect.stringMatching(/19\.99 .* 0\.01 /)]);
    expect(await call(key)).toEqual(raised('19.99', '0.01'));
    expect(await call(key, bulk, '/invoke/bulk')).toEqual(raised('19.99', '0.01'));
    expect(await balanceOf(h, key)).toEqual({ available: '59.99', held: '0.00' });

    const quote = await h.request('POST', `/invoke/${agent.id}/quote`, { key, body: { task: 'x' } });
    expect(await call(key, { maxCost: '19.99' })).toBe('19.99');
    // Who agreed once pays the same again.
    expect(await call(key)).toBe('19.99');
    expect(await call(key, {}, quote.body.data.acceptUrl)).toBe('19.99');
    await agent.die();
  });

  it('is not paid by who has paid the same price again and again, nor is one that the account agreed to elsewhere', async () => {
    await start();
    const { key, accountId } = await newClient(h, '5.00');
    for (let n = 0; n < 4; n++) expect(await call(key)).toBe('0.01');
    await reprice('0.03');
    expect(await call(key)).toEqual(raised('0.03', '0.01'));
    expect(await call(key, { maxCost: '0.03' })).toBe('0.03');
    for (let n = 0; n < 3; n++) expect(await call(key)).toBe('0.03');
    // As another process may have noted it, which this one has not heard of.
    const lower = `update paid_terms set terms = jsonb_set(terms::jsonb, '{perRequestMicro}', '"20000"')::json where account_id = $1`;
    await h.ctx.db.query('lower-paid-terms', lower, [accountId]);
    expect(await call(key)).toEqual(raised('0.03', '0.02'));
    expect(await balanceOf(h, key)).toEqual({ available: '4.84', held: '0.00' });
    await agent.die();
  });

  it('is refused for a day to new callers, who may have seen the old price', async () => {
    await start();
    const { key } = await newClient(h, '5.00');
    await reprice('0.50');
    expect(await call(key)).toEqual(raised('0.50', '0.01'));
    await h.ctx.db.query(
      'a-day-later',
      `update former_terms set ended_at = ended_at - interval '25 hours' where agent_id = $1`,
      [agent.id],
    );
    expect(await call(key)).toBe('0.50');
    await agent.die();
  });

  it('is the one last paid, also when it had fallen, and was nothing', async () => {
    await start();
    const { key } = await newClient(h, '5.00');
    expect(await call(key)).toBe('0.01');
    await reprice('0');
    expect(await call(key)).toBe('0.00');
    await reprice('0.01');
    expect(await call(key)).toEqual(raised('0.01', '0.00'));
    await agent.die();
  });

  it('by a new part shows at the calls that it raises, however many small ones came before', async () => {
    await start();
    const { key } = await newClient(h, '5.00');
    expect(await call(key)).toBe('0.01');
    await reprice('0.01', {
      perUnit: { price: '0.50', unit: 'page', count: '/pages', measure: 'number', maximum: '5.00' },
      sizeSteps: [{ aboveBytes: 1024, multiplier: '5' }],
    });
    expect(await call(key, { input: { pages: 0 } })).toBe('0.01');
    expect(await call(key, { input: { pages: 4 } })).toEqual(raised('2.00', '0.01'));
    expect(await call(key, { input: { pages: 0, text: 'x'.repeat(2000) } })).toEqual(raised('0.05', '0.01'));
    expect(await call(key, { input: { pages: 1 }, maxCost: '0.50' })).toBe('0.50');
    expect(await call(key, { input: { pages: 2 } })).toBe('1.00');
    await agent.die();
  });

  it('is paid within a limit of its own by a key, and a quote for less agrees to nothing', async () => {
    await start();
    const { key } = await newClient(h, '5.00');
    const limited = async (limits?: object) =>
      (
        await h.request('POST', '/account/keys', {
          key,
          body: { name: 'k', scopes: ['invoke'], ...(limits ? { limits } : {}) },
        })
      ).body.data;
    const old = (await h.request('POST', `/invoke/${agent.id}/quote`, { key, body: { task: 'x' } })).body.data;
    const [own, usual, none] = [await limited({ perCall: '0.60' }), await limited(), await limited({ perCall: null })];
    expect([own.limits.perCall, usual.limits.perCall, none.limits.perCall]).toEqual(['0.60', '1.00', null]);
    expect(await call(key)).toBe('0.01');
    await reprice('0.50');
    expect(await call(key, {}, old.acceptUrl)).toBe('0.01');
    for (const each of [key, usual.apiKey, none.apiKey]) expect(await call(each)).toEqual(raised('0.50', '0.01'));
    expect(await call(own.apiKey)).toBe('0.50');
    await agent.die();
  });
});
