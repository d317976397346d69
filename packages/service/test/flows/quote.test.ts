import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contradictions } from '../support/books.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { balanceOf, newClient } from '../support/treasury.ts';
import { payV1, payV2 } from '../support/x402-payer.ts';

let h: Harness;
let agent: TestAgent;
let owner: Awaited<ReturnType<Harness['newAccount']>>;
beforeAll(async () => {
  h = await startHarness();
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
