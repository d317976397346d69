import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { contradictions, walletByBooks } from '../support/books.ts';
import { cancelPayment } from '../support/chain-actions.ts';
import type { Answer, Harness, TestAccount, TestWallet } from '../support/harness.ts';
import { borrowHarness } from '../support/lent-harness.ts';
import { startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { payV1, payV2 } from '../support/x402-payer.ts';

let h: Harness;
let agent: TestAgent;
let account: TestAccount;
let wallet: TestWallet;
beforeAll(async () => {
  h = await borrowHarness();
  [agent, account, wallet] = await Promise.all([
    startTestAgent(h, { perRequest: '0.05' }),
    h.newAccount(),
    h.newWallet(1_000_000n),
  ]);
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});
afterEach(async () => {
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  expect(await h.usdcOf(h.ctx.chain.wallet)).toBe(await walletByBooks(h.databaseUrl));
});

const newName = () => randomBytes(12).toString('hex');
const invoke = (headers: Record<string, string> = {}, body: object = { task: 'x' }) =>
  h.request('POST', `/invoke/${agent.id}`, { key: account.key, body, headers });
const spent = async (before: bigint) => before - (await h.usdcOf(wallet.address));
const transactionOf = ({ headers }: Answer, name = 'payment-response') =>
  JSON.parse(Buffer.from(headers.get(name) ?? '', 'base64').toString()).transaction;

it('the 402 answer tells that clients may name their purchase', async () => {
  const { headers } = await invoke();
  const required = JSON.parse(Buffer.from(headers.get('payment-required') ?? '', 'base64').toString());
  expect(required.extensions['payment-identifier'].info).toEqual({ required: false });
});

describe('a purchase that was named', () => {
  it('is bought once, whichever of ten payments, signed anew for new offers, comes first', async () => {
    const before = await h.usdcOf(wallet.address);
    const calls = agent.calls.length;
    const identifier = newName();
    const headers = await Promise.all(
      Array.from({ length: 10 }, async () => payV2(h, wallet, await invoke(), { identifier })),
    );
    const first = await invoke(headers[0]);
    const others = await Promise.all(headers.map((each) => invoke(each)));
    expect(new Set([first, ...others].map(({ body }) => body.data.requestId)).size).toBe(1);
    expect(new Set([first, ...others].map((answer) => transactionOf(answer))).size).toBe(1);
    expect(await spent(before)).toBe(50_000n);
    expect(agent.calls.length - calls).toBe(1);
  });

  it('is bought once also when they all come at the same time', async () => {
    const before = await h.usdcOf(wallet.address);
    const identifier = newName();
    const headers = await Promise.all(
      Array.from({ length: 10 }, async () => payV2(h, wallet, await invoke(), { identifier })),
    );
    const answers = await Promise.all(headers.map((each) => invoke(each)));
    expect(new Set(answers.map(({ body }) => body.data.requestId)).size).toBe(1);
    expect(await spent(before)).toBe(50_000n);
  });

  it('is not another purchase: the same name for another body is refused, and takes no money', async () => {
    const identifier = newName();
    await invoke(await payV2(h, wallet, await invoke(), { identifier }));
    const before = await h.usdcOf(wallet.address);
    const other = await invoke(await payV2(h, wallet, await invoke(), { identifier }), { task: 'y' });
    expect(other.status).toBe(409);
    expect(await spent(before)).toBe(0n);
  });

  it('may be bought again when its first payment failed', async () => {
    const identifier = newName();
    const cancelled = await payV2(h, wallet, await invoke(), { identifier });
    await cancelPayment(h.rpcUrl, h, wallet, cancelled);
    expect((await invoke(cancelled)).status).toBe(402);
    const again = await invoke(await payV2(h, wallet, await invoke(), { identifier }));
    expect(again.body.data.status).toBe('completed');
  });

  it('is of its account: the same name is free for another', async () => {
    const identifier = newName();
    const mine = await invoke(await payV2(h, wallet, await invoke(), { identifier }));
    const other = await h.newAccount();
    const theirs = (headers = {}) =>
      h.request('POST', `/invoke/${agent.id}`, { key: other.key, body: { task: 'x' }, headers });
    const answer = await theirs(await payV2(h, wallet, await theirs(), { identifier }));
    expect(answer.status).toBe(200);
    expect(answer.body.data.requestId).not.toBe(mine.body.data.requestId);
  });

  it.each(['short', 'x'.repeat(129), 'has a blank in it'])('has a name that fits: %j does not', async (identifier) => {
    expect((await invoke(await payV2(h, wallet, await invoke(), { identifier }))).status).toBe(400);
  });
});

describe.each([
  ['v2', payV2, 'payment-response'],
  ['v1', payV1, 'x-payment-response'],
])('under one Idempotency-Key, a %s payment signed anew for an offer that came without the key', (_, pay, header) => {
  it('buys nothing again, also when the kept answer is lost', async () => {
    const before = await h.usdcOf(wallet.address);
    const key = { 'idempotency-key': newName() };
    const first = await invoke({ ...key, ...(await pay(h, wallet, await invoke())) });
    const losing = 'update idempotency set answer_sealed = null, answer_headers = null where account_id = $1';
    await h.ctx.db.query('lose-answers', losing, [account.accountId]);
    const again = await invoke({ ...key, ...(await pay(h, wallet, await invoke())) });
    expect(again.body.data.requestId).toBe(first.body.data.requestId);
    expect(transactionOf(again, header)).toBe(transactionOf(first, header));
    expect(await spent(before)).toBe(50_000n);
  });
});

it('a deposit that was named is credited once, however often it is paid', async () => {
  const identifier = newName();
  await h.request('POST', '/payments/treasury', { key: account.key });
  const deposit = (headers = {}) =>
    h.request('POST', '/payments/treasury/deposit', { key: account.key, body: { amount: '0.10' }, headers });
  const headers = await Promise.all([1, 2].map(async () => payV2(h, wallet, await deposit(), { identifier })));
  const before = await h.usdcOf(wallet.address);
  const [first, second] = [await deposit(headers[0]), await deposit(headers[1])];
  expect(second.body.data.paymentId).toBe(first.body.data.paymentId);
  expect(await spent(before)).toBe(100_000n);
});
