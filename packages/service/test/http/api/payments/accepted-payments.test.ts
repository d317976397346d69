import { PaymentRequiredV1Schema, PaymentRequiredV2Schema } from '@x402/core/schemas';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { linkWallet } from '../../../../src/accounts/link-wallet.ts';
import { contradictions } from '../../../support/books.ts';
import type { Answer, Harness, TestAccount } from '../../../support/harness.ts';
import { borrowHarness } from '../../../support/lent-harness.ts';
import { startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { payV1, payV2 } from '../../../support/x402-payer.ts';
import { newContractWallet, submitAuthorization } from '../support/chain-actions.ts';
import { expectError } from '../support/expect-error.ts';

let h: Harness;
let agent: TestAgent;
let other: TestAgent;
let account: TestAccount;
beforeAll(async () => {
  h = await borrowHarness();
  const owner = await h.newAccount();
  [agent, other, account] = await Promise.all([
    startTestAgent(h, { owner, perRequest: '0.05' }),
    startTestAgent(h, { owner, perRequest: '0.05' }),
    h.newAccount(),
  ]);
});
afterAll(async () => {
  await Promise.all([agent.die(), other.die()]);
  await h.stop();
});
afterEach(async () => expect(await contradictions(h.databaseUrl)).toEqual([]));

interface Target {
  to?: TestAgent;
  by?: TestAccount;
  body?: object;
  query?: string;
}
const invoke = (
  headers: Record<string, string> = {},
  { to = agent, by = account, body = {}, query = '' }: Target = {},
) => h.request('POST', `/invoke/${to.id}${query}`, { key: by.key, body: { task: 'x', ...body }, headers });
const decode = (header: string | null) => JSON.parse(Buffer.from(header ?? '', 'base64').toString());

it('the 402 answer is what x402 clients of both versions parse, and what the specification calls payment terms', async () => {
  const { headers, body } = await invoke();
  const v2 = decode(headers.get('payment-required'));
  expect(PaymentRequiredV2Schema.parse(v2)).toEqual(v2);
  // v1 clients ignore `error`, which the specification of this API makes an object and v1 a string.
  expect(PaymentRequiredV1Schema.safeParse({ ...body, error: undefined }).error).toBeUndefined();
  expect(body.accepts[0].outputSchema).not.toBeNull();
  const { chain } = h.ctx;
  expect(body.error.payment).toEqual({
    amount: '0.05',
    currency: 'USDC',
    network: chain.name,
    recipient: chain.wallet,
    memo: v2.accepts[0].extra.memo,
  });
  expect(v2).toMatchObject({
    x402Version: 2,
    accepts: [{ scheme: 'exact', network: chain.caip2, amount: '50000', payTo: chain.wallet }],
  });
  expect(v2.accepts[0].extra).toMatchObject({
    name: chain.tokenName,
    version: chain.tokenVersion,
    paymentFlow: 'upfront',
  });
  expect(v2.resource.url).toBe(`${h.baseUrl}/invoke/${agent.id}`);
  expect(headers.get('payment-response')).toBeNull();
  expect(headers.get('cache-control')).toBe('no-store');
});

describe.each([
  ['v2', payV2, 'payment-response'],
  ['v1', payV1, 'x-payment-response'],
])('a %s payment', (version, pay, responseHeader) => {
  it('is answered with the transaction in the header of its version', async () => {
    const wallet = await h.newWallet(50_000n);
    const { headers, body } = await invoke(await pay(h, wallet, await invoke()));
    expect(decode(headers.get(responseHeader))).toEqual({
      success: true,
      payer: wallet.address.toLowerCase(),
      transaction: body.data.paymentHash,
      network: version === 'v2' ? h.ctx.chain.caip2 : h.ctx.chain.name,
      extensions: { 'offer-receipt': { info: { version: 1, receipt: expect.objectContaining({ format: 'eip712' }) } } },
    });
    expect(await h.usdcOf(wallet.address)).toBe(0n);
  });

  it('of a contract wallet (EIP-1271) is taken', async () => {
    const wallet = await newContractWallet(h, await h.newWallet(0n), 60_000n);
    const { body } = await invoke(await pay(h, wallet, await invoke()));
    expect(body.data).toMatchObject({ status: 'completed', cost: '0.05' });
    expect(await h.usdcOf(wallet.address)).toBe(10_000n);
    const stranger = { ...(await h.newWallet(0n)), address: wallet.address };
    expectError(await invoke(await pay(h, stranger, await invoke())), 'PAYMENT_REQUIRED');
  });

  it('buys one thing: shown with another body, account, agent or quote it is refused', async () => {
    const wallet = await h.newWallet();
    const headers = await pay(h, wallet, await invoke());
    const first = await invoke(headers);
    const calls = agent.calls.length + other.calls.length;
    const quote = await h.request('POST', `/invoke/${agent.id}/quote`, { key: account.key, body: { task: 'x' } });
    const targets: Target[] = [
      { body: { task: 'y' } },
      { body: { input: { a: 1 } } },
      { body: { priority: 'high' } },
      { by: await h.newAccount() },
      { to: other },
      { query: `?quote=${quote.body.data.quoteId}` },
    ];
    for (const target of targets) expectError(await invoke(headers, target), 'CONFLICT');
    const { key } = await h.newAccount();
    await h.request('POST', '/payments/treasury', { key, body: {} });
    const deposit = await h.request('POST', '/payments/treasury/deposit', { key, body: { amount: '0.05' }, headers });
    expectError(deposit, 'CONFLICT');
    expect(agent.calls.length + other.calls.length).toBe(calls);
    expect(await h.usdcOf(wallet.address)).toBe(1_000_000_000n - 50_000n);
    expect((await invoke(headers)).body.data).toEqual(first.body.data);
  });

  it('on an agent that asks for nothing is ignored, and no money moves', async () => {
    const wallet = await h.newWallet();
    const free = await startTestAgent(h, { perRequest: '0' });
    const answer = await invoke(await pay(h, wallet, await invoke()), { to: free });
    expect(answer.status).toBe(200);
    expect(answer.headers.get(responseHeader)).toBeNull();
    expect(await h.usdcOf(wallet.address)).toBe(1_000_000_000n);
    await free.die();
  });
});

it('a payment that a third party has already put on the chain counts as paid, once, for the account that has proven its wallet', async () => {
  const wallet = await h.newWallet();
  const address = wallet.address.toLowerCase();
  await h.ctx.db.transaction((tx) => linkWallet(tx, address, account.accountId, h.ctx.clock.now()));
  const headers = await payV2(h, wallet, await invoke());
  await submitAuthorization(h, headers);
  const [one, two] = await Promise.all([invoke(headers), invoke(headers)]);
  expect(one.body.data).toMatchObject({ status: 'completed', cost: '0.05' });
  expect(two.body.data).toEqual(one.body.data);
  expect(await h.usdcOf(wallet.address)).toBe(1_000_000_000n - 50_000n);
});

it('an offer that is paid twice is taken once, and the second wallet keeps its money', async () => {
  const [first, second] = [await h.newWallet(), await h.newWallet()];
  const terms = await invoke();
  const answers: Answer[] = [];
  for (const wallet of [first, second]) answers.push(await invoke(await payV2(h, wallet, terms)));
  expect(answers[1]?.body.data.requestId).toBe(answers[0]?.body.data.requestId);
  expect(await h.usdcOf(second.address)).toBe(1_000_000_000n);
});

describe('the terms of a 402 hold', () => {
  const setPrice = (perRequest: string) =>
    h.request('PUT', `/agents/${other.id}`, { key: ownerKey(), body: { rates: { perRequest } } });
  let owner: TestAccount;
  const ownerKey = () => owner.key;
  beforeAll(async () => {
    owner = await h.newAccount();
    await other.die();
    other = await startTestAgent(h, { owner, perRequest: '0.05' });
  });

  it('though the price rises before the payment comes, with a cap as well', async () => {
    const wallet = await h.newWallet();
    const capped = { to: other, body: { maxCost: '0.05' } };
    const terms = [await invoke({}, { to: other }), await invoke({}, capped)];
    await setPrice('0.10');
    const plain = await invoke(await payV2(h, wallet, terms[0] as Answer), { to: other });
    expect(plain.body.data).toMatchObject({ status: 'completed', cost: '0.05' });
    const answer = await invoke(await payV2(h, wallet, terms[1] as Answer), capped);
    expect(answer.body.data).toMatchObject({ status: 'completed', cost: '0.05' });
    await setPrice('0.05');
  });

  it('but never charges above the cap of the request that pays', async () => {
    const wallet = await h.newWallet();
    const terms = await invoke({}, { to: other });
    await setPrice('0.01');
    expectError(
      await invoke(await payV2(h, wallet, terms), { to: other, body: { maxCost: '0.02' } }),
      'VALIDATION_ERROR',
      'maxCost',
    );
    expect(await h.usdcOf(wallet.address)).toBe(1_000_000_000n);
    await setPrice('0.05');
  });

  it.each([
    ['v2', payV2],
    ['v1', payV1],
  ])('%s: a payment is answered with its stored result after the agent was removed', async (_version, pay) => {
    const wallet = await h.newWallet();
    const gone = await startTestAgent(h, { owner, perRequest: '0.05' });
    const headers = await pay(h, wallet, await invoke({}, { to: gone }));
    const paid = await invoke(headers, { to: gone });
    await h.request('DELETE', `/agents/${gone.id}`, { key: owner.key });
    await gone.die();
    const again = await invoke(headers, { to: gone });
    expect(again.body.data).toEqual(paid.body.data);
    expectError(await invoke(headers, { to: gone, body: { task: 'y' } }), 'CONFLICT');
  });
});
