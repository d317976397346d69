import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { contradictions } from '../../../support/books.ts';
import type { Harness, TestAccount } from '../../../support/harness.ts';
import { borrowHarness } from '../../../support/lent-harness.ts';
import { startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { newClient } from '../../../support/treasury.ts';
import { payV1, payV2 } from '../../../support/x402-payer.ts';

let h: Harness;
let owner: TestAccount;
let client: TestAccount;
let plain: TestAgent;
let sized: TestAgent;
let hinted: TestAgent;
beforeAll(async () => {
  h = await borrowHarness();
  owner = await h.newAccount();
  [plain, sized, hinted, client] = await Promise.all([
    startTestAgent(h, { owner, perRequest: '0.05' }),
    startTestAgent(h, {
      owner,
      perRequest: '0.05',
      metadata: { sizeSteps: [{ aboveBytes: 16_384, multiplier: '1.25' }] },
    }),
    startTestAgent(h, { owner, perRequest: '0.05', metadata: { priceHints: true } }),
    newClient(h, '100'),
  ]);
});
afterAll(async () => {
  await Promise.all([plain.die(), sized.die(), hinted.die()]);
  await h.stop();
});
afterEach(async () => {
  expect(await contradictions(h.databaseUrl)).toEqual([]);
});

const text = 'x'.repeat(20_000);
const body = (complexity: string) => ({ task: 'x', input: { complexity } });
const call = (agent: TestAgent, sent: object, headers: Record<string, string> = {}) =>
  h.request('POST', `/invoke/${agent.id}`, { key: client.key, body: sent, headers: { 'x-sync': 'true', ...headers } });
/** By the treasury, which agrees to any of these prices. */
const costOf = async (agent: TestAgent, sent: object) => (await call(agent, { ...sent, maxCost: '1' })).body.data.cost;
const x402 = { 'x-payment-method': 'x402' };

it('an agent is paid its price whatever its callers say of the complexity', async () => {
  for (const complexity of ['low', 'medium', 'high']) {
    expect(await costOf(plain, body(complexity))).toBe('0.05');
    expect((await call(plain, body(complexity), x402)).body.error.payment.amount).toBe('0.05');
    const quoted = await h.request('POST', `/invoke/${plain.id}/quote`, { key: client.key, body: body(complexity) });
    expect(quoted.body.data).toMatchObject({ estimatedCost: '0.05', breakdown: { complexity_multiplier: '1.0x' } });
  }
  const bulk = { ...body('low'), agents: [plain.id, hinted.id], strategy: 'all' };
  const started = await h.request('POST', '/invoke/bulk', { key: client.key, body: bulk });
  expect(started.body.data).toMatchObject({ estimatedCost: '0.09' });
});

it('an owner has hints taken at registration, and takes that back', async () => {
  expect((await h.request('GET', `/agents/${hinted.id}`)).body.data.metadata).toEqual({ priceHints: true });
  expect(await costOf(hinted, body('low'))).toBe('0.04');
  const change = (metadata: object) =>
    h.request('PUT', `/identity/${hinted.id}/metadata`, { key: owner.key, body: metadata });
  const put = (metadata: object) => h.request('PUT', `/agents/${hinted.id}`, { key: owner.key, body: { metadata } });
  await put({ priceHints: null });
  expect(await costOf(hinted, body('low'))).toBe('0.05');
  expect((await put({ priceHints: 'yes' })).status).toBe(400);
  expect((await change({ priceHints: true })).status).toBe(200);
  expect(await costOf(hinted, body('high'))).toBe('0.075');
});

it('an agent is paid its price for calls of any size, unless its owner states a price by size', async () => {
  const large = { task: 'x', input: { text } };
  const quote = async (agent: TestAgent) =>
    (await h.request('POST', `/invoke/${agent.id}/quote`, { key: client.key, body: large })).body.data;
  expect((await call(plain, large, x402)).body.error.payment.amount).toBe('0.05');
  expect(await costOf(plain, large)).toBe('0.05');
  expect((await quote(plain)).breakdown).toEqual({
    ...{ base_fee: '0.05', complexity_multiplier: '1.0x', total: '0.05' },
    explanation: '0.05 per request = 0.05 USDC',
  });
  expect((await call(sized, large, x402)).body.error.payment.amount).toBe('0.0625');
  expect(await costOf(sized, large)).toBe('0.0625');
  expect((await quote(sized)).breakdown).toEqual({
    ...{ base_fee: '0.05', complexity_multiplier: '1.0x', total: '0.0625' },
    size: { bytes: 20_012, aboveBytes: 16_384, multiplier: '1.25x' },
    explanation: '0.05 per request × 1.25 (20,012 bytes, above 16,384) = 0.0625 USDC',
  });
});

it('a quote holds for its call whatever the owner then says of hints and sizes', async () => {
  const agent = await startTestAgent(h, { owner, perRequest: '0.05' });
  const sent = { task: 'x', input: { text, complexity: 'high' } };
  const quoted = await h.request('POST', `/invoke/${agent.id}/quote`, { key: client.key, body: sent });
  const dear = { priceHints: true, sizeSteps: [{ aboveBytes: 1024, multiplier: '5' }] };
  const put = (metadata: object) => h.request('PUT', `/agents/${agent.id}`, { key: owner.key, body: { metadata } });
  expect((await put(dear)).status).toBe(200);
  const accepted = await h.request('POST', quoted.body.data.acceptUrl, {
    ...{ key: client.key, body: sent, headers: { 'x-sync': 'true' } },
  });
  expect(accepted.body.data).toMatchObject({ status: 'completed', cost: '0.05' });
  expect(await costOf(agent, sent)).toBe('0.375');
  const bad = [
    [{ aboveBytes: 1024, multiplier: '0.5' }],
    [{ aboveBytes: 1024, multiplier: '5.01' }],
    [
      { aboveBytes: 1024, multiplier: '2' },
      { aboveBytes: 1024, multiplier: '3' },
    ],
    [
      { aboveBytes: 1024, multiplier: '2' },
      { aboveBytes: 4096, multiplier: '1.5' },
    ],
    [],
  ];
  for (const sizeSteps of bad) expect((await put({ sizeSteps })).status).toBe(400);
  await agent.die();
});

it('a payment signed before the owner states a price by size is answered with the new price', async () => {
  const agent = await startTestAgent(h, { owner, perRequest: '0.05' });
  const wallet = await h.newWallet(1_000_000n);
  const sent = { task: 'x', input: { text } };
  const headers = await payV2(h, wallet, await call(agent, sent, x402));
  const metadata = { sizeSteps: [{ aboveBytes: 16_384, multiplier: '2' }] };
  await h.request('PUT', `/agents/${agent.id}`, { key: owner.key, body: { metadata } });
  const refused = await call(agent, sent, headers);
  expect([refused.status, refused.body.error.payment.amount]).toEqual([402, '0.10']);
  expect(await h.usdcOf(wallet.address)).toBe(1_000_000n);
  await agent.die();
});

it.each([
  ['v2', payV2],
  ['v1', payV1],
])('an offer for a small or simple call does not pay for a large or difficult one (x402 %s)', async (_version, pay) => {
  const wallet = await h.newWallet(1_000_000n);
  const offered = async (agent: TestAgent, sent: object) => pay(h, wallet, await call(agent, sent, x402));
  const small = await offered(sized, { task: 'x' });
  for (const large of [
    { task: 'x', context: text },
    { task: 'x', input: { text } },
  ])
    expect((await call(sized, large, small)).body.error.payment.amount).toBe('0.0625');
  const low = await offered(hinted, body('low'));
  for (const more of [body('high'), { task: 'x' }]) expect((await call(hinted, more, low)).status).toBe(402);
  expect(await h.usdcOf(wallet.address)).toBe(1_000_000n);
  expect((await call(hinted, body('low'), low)).body.data).toMatchObject({ status: 'completed', cost: '0.04' });
  expect((await call(sized, { task: 'y' }, small)).body.data).toMatchObject({ status: 'completed', cost: '0.05' });
});
