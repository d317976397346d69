import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { contradictions } from '../../../support/books.ts';
import { fixedClock } from '../../../support/fixed-clock.ts';
import { type Harness, startHarness, type TestAccount } from '../../../support/harness.ts';
import { startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { deposit, newClient } from '../../../support/treasury.ts';
import { payV2 } from '../../../support/x402-payer.ts';
import { databaseDigest } from '../support/database-digest.ts';
import { expectError } from '../support/expect-error.ts';

const clock = fixedClock(new Date());
let h: Harness;
let owner: TestAccount;
let client: TestAccount;
let free: TestAgent;
let priced: TestAgent;
let hinted: TestAgent;
beforeAll(async () => {
  h = await startHarness({ clock });
  owner = await h.newAccount();
  [free, priced, hinted, client] = await Promise.all([
    startTestAgent(h, { owner, perRequest: '0' }),
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
  await Promise.all([free.die(), priced.die(), hinted.die()]);
  await h.stop();
});
afterEach(async () => {
  expect(await contradictions(h.databaseUrl)).toEqual([]);
});

interface Options {
  to?: TestAgent;
  query?: string;
  headers?: Record<string, string>;
  key?: string;
}
const invoke = (
  body: object = {},
  { to = free, query = '', headers = { 'x-sync': 'true' }, key = client.key }: Options = {},
) => h.request('POST', `/invoke/${to.id}${query}`, { key, body: { task: 'hello', ...body }, headers });
const inMinutes = (minutes: number) => new Date(clock.now().getTime() + minutes * 60_000).toISOString();

describe('a quote', () => {
  const quote = async (to: TestAgent, input = {}, key = client.key) =>
    (await h.request('POST', `/invoke/${to.id}/quote`, { key, body: { task: 'hello', input } })).body.data;

  it.each([
    ['low', '0.04', '0.8x'],
    ['medium', '0.05', '1.0x'],
    ['high', '0.075', '1.5x'],
    ['extreme', '0.05', '1.0x'],
  ])('of complexity %s, of an agent that takes hints, costs %s and locks it', async (complexity, total, multiplier) => {
    const quoted = await quote(hinted, { complexity });
    expect(quoted).toMatchObject({
      estimatedCost: total,
      breakdown: { base_fee: '0.05', complexity_multiplier: multiplier, total },
      acceptUrl: `/invoke/${hinted.id}?quote=${quoted.quoteId}`,
      validUntil: inMinutes(15),
    });
    const body = { task: 'other', input: { complexity } };
    const options = { key: client.key, body, headers: { 'x-sync': 'true' } };
    expect((await h.request('POST', quoted.acceptUrl, options)).body.data).toMatchObject({
      status: 'completed',
      cost: total,
    });
  });

  it('of a small or simple call is no price for a large or difficult one', async () => {
    const text = 'x'.repeat(20_000);
    const use = (to: TestAgent, quoteId: string, body: object) => invoke(body, { to, query: `?quote=${quoteId}` });
    const { quoteId } = await quote(priced);
    for (const body of [{ input: { text } }, { context: text }, { metadata: { text } }, { task: text }])
      expectError(await use(priced, quoteId, body), 'VALIDATION_ERROR', 'quote');
    expect((await use(priced, quoteId, { input: { complexity: 'high' } })).body.data).toMatchObject({ cost: '0.05' });
    const cheap = await quote(hinted, { complexity: 'low' });
    expectError(await use(hinted, cheap.quoteId, {}), 'VALIDATION_ERROR', 'quote');
    expectError(await use(hinted, cheap.quoteId, { input: { complexity: 'high' } }), 'VALIDATION_ERROR', 'quote');
    const large = await quote(priced, { text });
    expect(large).toMatchObject({ estimatedCost: '0.0625' });
    expect((await use(priced, large.quoteId, { task: 'small' })).body.data).toMatchObject({ cost: '0.0625' });
  });

  it('is used once, also by many at once', async () => {
    const { quoteId } = await quote(priced);
    const calls = priced.calls.length;
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => invoke({}, { to: priced, query: `?quote=${quoteId}` })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
    expect(priced.calls.length - calls).toBe(1);
    expectError(await invoke({}, { to: priced, query: `?quote=${quoteId}` }), 'CONFLICT');
  });

  it('of another agent, of another account, unknown or too old is refused and stays as it was', async () => {
    const { quoteId } = await quote(priced);
    const stranger = await h.newAccount();
    const digest = await databaseDigest(h);
    expectError(await invoke({}, { to: free, query: `?quote=${quoteId}` }), 'VALIDATION_ERROR', 'quote');
    expectError(await invoke({}, { to: priced, query: `?quote=${quoteId}`, key: stranger.key }), 'NOT_FOUND');
    expectError(await invoke({}, { to: priced, query: '?quote=qte_01k0000000000000000000000a' }), 'NOT_FOUND');
    expectError(
      await invoke({ maxCost: '0.049' }, { to: priced, query: `?quote=${quoteId}` }),
      'VALIDATION_ERROR',
      'maxCost',
    );
    clock.advance(15 * 60_000);
    expectError(await invoke({}, { to: priced, query: `?quote=${quoteId}` }), 'VALIDATION_ERROR', 'quote');
    expect(await databaseDigest(h)).toEqual(digest);
  });

  it('that was paid for by x402 still has its result shown to the same payment when it is long too old', async () => {
    const { key } = await h.newAccount();
    const { quoteId } = await quote(priced, {}, key);
    const use = (headers = {}) => invoke({}, { to: priced, query: `?quote=${quoteId}`, key, headers });
    const headers = await payV2(h, await h.newWallet(), await use());
    const paid = await use(headers);
    expect(paid.body.data).toMatchObject({ status: 'completed', cost: '0.05' });
    clock.advance(16 * 60_000);
    expect((await use(headers)).body).toEqual(paid.body);
  });

  it('that could not be paid can be used later', async () => {
    const poor = await newClient(h, '0.01');
    const { quoteId } = await quote(priced, {}, poor.key);
    const use = () => invoke({}, { to: priced, query: `?quote=${quoteId}`, key: poor.key });
    expectError(await use(), 'INSUFFICIENT_FUNDS');
    await deposit(h, poor.key, poor.treasuryId, '0.04');
    expect((await use()).body.data).toMatchObject({ status: 'completed', cost: '0.05' });
  });
});
