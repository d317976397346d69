import { SESSION_COOKIE } from '@agent-network/contracts/access/sessions';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { contradictions } from '../support/books.ts';
import { signedChallenge } from '../support/browser.ts';
import { emptyWallet, paymentIn, submitPayment } from '../support/chain-actions.ts';
import { type Answer, type Harness, startHarness, type TestAccount, type TestWallet } from '../support/harness.ts';
import { answerWith, echo, startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { until } from '../support/until.ts';
import { type PaymentChanges, payV1, payV2 } from '../support/x402-payer.ts';

type Headers = Record<string, string>;

let h: Harness;
let owner: TestAccount;
let agent: TestAgent;
let free: TestAgent;
beforeAll(async () => {
  h = await startHarness({ env: { KEYLESS_INVOCATIONS_PER_HOUR: '3' } });
  owner = await h.newAccount();
  agent = await startTestAgent(h, { owner, perRequest: '0.05' });
  free = await startTestAgent(h, { owner, perRequest: '0' });
});
afterAll(async () => {
  await Promise.all([agent.die(), free.die()]);
  await h.stop();
});
afterEach(async () => {
  agent.behave(echo);
  expect(await contradictions(h.databaseUrl)).toEqual([]);
});

const PRICE = 50_000n;
const path = () => `/x402/${agent.id}`;
const call = (task: string, headers: Headers = {}, body: object = {}) =>
  h.request('POST', path(), { body: { task, ...body }, headers });
const read = (requestId: string, headers: Headers = {}) => h.request('GET', `/invoke/${requestId}`, { headers });

/** A call paid as a stock client pays: 402, then the identical call with the payment. */
async function buy(wallet: TestWallet, task: string, pay = payV2, headers: Headers = {}) {
  const payment = await pay(h, wallet, await call(task, headers));
  return { payment, answer: await call(task, { ...headers, ...payment }) };
}

/** The payment that everybody can read on chain, as the answer to a 402 that the thief was given. */
async function rebuilt(wallet: TestWallet, stolen: Headers, unpaid: Answer, version: 1 | 2): Promise<Headers> {
  const { authorization, signature } = paymentIn(stolen);
  const nonce = authorization.nonce as `0x${string}`;
  const changes: PaymentChanges = { signature, nonce, validBefore: authorization.validBeforeS };
  return version === 2 ? payV2(h, wallet, unpaid, changes) : payV1(h, wallet, unpaid, changes);
}

const accountsOf = (address: string) =>
  h.ctx.db.query<{ id: string; walletProvenAt: Date | null }>(
    'accounts-of-address',
    'select id, wallet_proven_at as "walletProvenAt" from account where address = $1',
    [address.toLowerCase()],
  );

/** A key for the wallet's account, by signing in in the ordinary way. */
async function signIn(wallet: TestWallet): Promise<string> {
  const body = {
    ...(await signedChallenge(h, wallet)),
    name: 'x',
    scopes: ['invoke', 'payments:read', 'payments:write'],
  };
  return (await h.request('POST', '/auth/sign-in', { body })).body.data.apiKey;
}

describe('a call without a key', () => {
  it('is paid by the stock client, and its result comes with the token that reads on', async () => {
    const wallet = await h.newWallet(1_000_000n);
    const x402 = new x402Client().register(h.ctx.chain.caip2 as `eip155:${number}`, new ExactEvmScheme(wallet));
    const paying = wrapFetchWithPayment(fetch, x402);
    const response = await paying(h.baseUrl + path(), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ task: 'hello' }),
    });
    const { data } = (await response.json()) as Answer['body'];
    expect(data).toMatchObject({ status: 'completed', result: { echo: 'hello' }, cost: '0.05' });
    expect(response.headers.get('x-result-token')).toBe(data.resultToken);
    expect(await h.usdcOf(wallet.address)).toBe(1_000_000n - PRICE);

    const headers = { 'x-result-token': data.resultToken };
    expect((await read(data.requestId, headers)).body.data).toMatchObject({ result: { echo: 'hello' } });
    const signedOut = { ...headers, cookie: `${SESSION_COOKIE}=ended`, origin: h.baseUrl };
    expect((await read(data.requestId, signedOut)).status).toBe(200);
    expect((await read(data.requestId, { cookie: signedOut.cookie, origin: h.baseUrl })).status).toBe(401);
    expect((await read(data.requestId)).status).toBe(401);
    expect((await read(data.requestId, { 'x-result-token': `anr_${'x'.repeat(43)}` })).status).toBe(401);
    expect((await read(data.requestId, { 'x-result-token': `${data.resultToken}x` })).status).toBe(400);
    const stream = await fetch(`${h.baseUrl}/invoke/${data.requestId}/events`, { headers });
    expect(await stream.text()).toContain('event: invocation.completed');
  });

  it.each([
    ['no header', {}],
    ['Bearer x402', { authorization: 'Bearer x402' }],
  ])('is that of the paying wallet, which sees it after signing in (%s)', async (_, headers: Headers) => {
    const wallet = await h.newWallet(1_000_000n);
    const { answer } = await buy(wallet, 'mine', payV1, headers);
    expect(answer.body.data).toMatchObject({ status: 'completed', paymentMethod: 'x402' });
    const [account] = await accountsOf(wallet.address);
    expect(account).toMatchObject({ walletProvenAt: null });
    const key = await signIn(wallet);
    const listed = (await h.request('GET', '/invoke/history', { key })).body.data;
    expect(JSON.stringify(listed)).toContain(answer.body.data.requestId);
    expect((await h.request('GET', `/invoke/${answer.body.data.requestId}`, { key })).status).toBe(200);
  });

  it('is asked for its price in both versions, in a header below 8 KB, and nothing is stored', async () => {
    const count = () => h.ctx.db.query<{ n: number }>('count-accounts', 'select count(*)::int as n from account');
    const before = await count();
    const unpaid = await call('x');
    expect(unpaid.status).toBe(402);
    const header = unpaid.headers.get('payment-required') ?? '';
    expect(header.length).toBeLessThan(8192);
    const v2 = JSON.parse(Buffer.from(header, 'base64').toString());
    expect(v2.resource.url).toBe(h.baseUrl + path());
    expect(v2.accepts[0]).toMatchObject({ scheme: 'exact', amount: String(PRICE) });
    expect(unpaid.body).toMatchObject({ x402Version: 1, accepts: [{ resource: h.baseUrl + path() }] });
    expect(await count()).toEqual(before);
  });

  it('is refunded to the wallet when the agent fails', async () => {
    const wallet = await h.newWallet(1_000_000n);
    agent.behave(answerWith(500, { error: { code: 'BROKEN', message: 'no' } }));
    const { answer } = await buy(wallet, 'x');
    expect(answer.body.data).toMatchObject({ status: 'failed', cost: '0.00', refund: '0.05' });
    const back = async () => (await h.usdcOf(wallet.address)) === 1_000_000n;
    await until(back);
  });

  it('that is not ended by then is answered with its record, and the identical call reads on', async () => {
    const wallet = await h.newWallet(1_000_000n);
    const hold = Promise.withResolvers<void>();
    agent.behave(async (request, response) => {
      await hold.promise;
      echo(request, response);
    });
    const unpaid = await call('slow', {}, { webhookUrl: 'http://127.0.0.1:9/' });
    const payment = await payV2(h, wallet, unpaid);
    const first = await call('slow', payment, { webhookUrl: 'http://127.0.0.1:9/' });
    expect(first.body.data).toMatchObject({ status: 'processing', resultToken: expect.any(String) });
    hold.resolve();
    const { requestId, resultToken } = first.body.data;
    const isDone = async () =>
      (await read(requestId, { 'x-result-token': resultToken })).body.data.status === 'completed' || null;
    await until(isDone);
    const again = await call('slow', payment, { webhookUrl: 'http://127.0.0.1:9/' });
    expect(again.body.data).toMatchObject({ requestId, resultToken, result: { echo: 'slow' } });
  });
});

describe('a settled payment that a stranger reads on chain', () => {
  it.each([
    ['v2', payV2, 2, 2],
    ['v1', payV1, 1, 1],
    ['v2, as one of v1', payV2, 2, 1],
    ['v1, as one of v2', payV1, 1, 2],
  ] as const)('%s: buys no second run and discloses no result', async (_, pay, _from, version) => {
    const wallet = await h.newWallet(1_000_000n);
    const { payment, answer } = await buy(wallet, 'secret', pay);
    const runs = agent.calls.length;
    const unpaid = await call('secret');
    const stolen = await rebuilt(wallet, payment, unpaid, version);
    const shown = await call('secret', stolen);
    const { requestId } = answer.body.data;
    expect(shown.body.data).toMatchObject({ requestId, status: 'completed' });
    expect(Object.keys(shown.body.data)).not.toContain('result');
    expect(Object.keys(shown.body.data)).not.toContain('resultToken');
    expect(shown.headers.get('x-result-token')).toBeNull();
    expect((await call('other', stolen)).status).toBe(409);
    const streamed = await call('secret', { ...stolen, accept: 'text/event-stream' }, { stream: true });
    expect(streamed.status).toBe(409);
    expect(agent.calls.length).toBe(runs);
    expect(await h.usdcOf(wallet.address)).toBe(1_000_000n - PRICE);
  });

  it('gives the result to whoever has the offer of the call, its token, or the wallet', async () => {
    const wallet = await h.newWallet(1_000_000n);
    const { payment, answer } = await buy(wallet, 'mine');
    const { requestId, resultToken } = answer.body.data;
    expect((await call('mine', payment)).body.data).toMatchObject({ requestId, result: { echo: 'mine' } });
    const v1 = await rebuilt(wallet, payment, await call('mine'), 1);
    expect((await call('mine', v1)).body.data.result).toBeUndefined();
    const withToken = await call('mine', { ...v1, 'x-result-token': resultToken });
    expect(withToken.body.data).toMatchObject({ requestId, result: { echo: 'mine' } });
  });

  it('pays for nothing when it was never shown, even to an account that has proven the wallet', async () => {
    const wallet = await h.newWallet(1_000_000n);
    await signIn(wallet);
    const unpaid = await call('x');
    const required = JSON.parse(Buffer.from(unpaid.headers.get('payment-required') ?? '', 'base64').toString());
    // Bound to a keyless call of this agent, which is anybody's.
    const payment = await payV2(h, wallet, unpaid, { nonce: required.accepts[0].extra.nonce });
    await submitPayment(h.rpcUrl, h, payment);
    const shown = await call('x', payment);
    expect(shown.status).toBe(402);
    expect(shown.body.error.details.reason).toBe('invalid_exact_evm_nonce_already_used');
  });

  it('reads and changes nothing else of its wallet', async () => {
    const wallet = await h.newWallet(1_000_000n);
    const key = await signIn(wallet);
    await h.request('POST', '/payments/treasury', { key, body: {} });
    const own = await h.request('POST', `/invoke/${free.id}`, {
      key,
      body: { task: 'own' },
      headers: { 'x-sync': 'true' },
    });
    const { answer } = await buy(wallet, 'x');
    const headers = { 'x-result-token': answer.body.data.resultToken };
    expect((await read(own.body.data.requestId, headers)).status).toBe(401);
    for (const [method, to] of [
      ['GET', '/invoke/history'],
      ['GET', '/payments/balance'],
      ['POST', `/invoke/${answer.body.data.requestId}/cancel`],
    ] as const)
      expect((await h.request(method, to, { headers })).status).toBe(401);
  });
});

describe('a call without a key is refused for', () => {
  it('a bad key is a bad key, and a good one makes the call its account’s', async () => {
    const { key, accountId } = await h.newAccount();
    expect((await h.request('POST', path(), { key: `${key}x`, body: { task: 'x' } })).status).toBe(401);
    const wallet = await h.newWallet(1_000_000n);
    const unpaid = await h.request('POST', path(), { key, body: { task: 'x' } });
    const headers = await payV2(h, wallet, unpaid);
    const keyless = await call('x', headers);
    expect(keyless.body.error.details.reason).toBe('invalid_offer');
    const paid = await h.request('POST', path(), { key, body: { task: 'x' }, headers });
    expect(paid.body.data.status).toBe('completed');
    expect(paid.body.data.resultToken).toBeUndefined();
    const [row] = await h.ctx.db.query<{ accountId: string }>(
      'account-of-request',
      'select account_id as "accountId" from invocation where id = $1',
      [paid.body.data.requestId],
    );
    expect(row).toEqual({ accountId });
    expect(await accountsOf(wallet.address)).toEqual([]);
  });

  it('an offer without a key pays for no call with one', async () => {
    const { key } = await h.newAccount();
    const wallet = await h.newWallet(1_000_000n);
    const headers = await payV2(h, wallet, await call('x'));
    const paid = await h.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'x' }, headers });
    expect(paid.body.error.details.reason).toBe('invalid_offer');
    expect(await h.usdcOf(wallet.address)).toBe(1_000_000n);
  });

  it('a treasury, also that of the paying wallet', async () => {
    const refused = await call('x', { 'x-payment-method': 'treasury' });
    expect(refused.body.error.code).toBe('VALIDATION_ERROR');
    const wallet = await h.newWallet(1_000_000n);
    const key = await signIn(wallet);
    const { treasuryId } = (await h.request('POST', '/payments/treasury', { key, body: {} })).body.data;
    const deposit = (headers: Headers = {}) =>
      h.request('POST', '/payments/treasury/deposit', { key, body: { amount: '0.5', treasuryId }, headers });
    await deposit(await payV2(h, wallet, await deposit()));
    await buy(wallet, 'x');
    const balance = await h.request('GET', '/payments/balance', { key });
    expect(balance.body.data.available).toBe('0.50');
    expect(await h.usdcOf(wallet.address)).toBe(1_000_000n - 500_000n - PRICE);
  });

  it('a payment that is not good opens no account', async () => {
    const wallet = await h.newWallet(1_000_000n);
    const payment = await payV2(h, wallet, await call('x'));
    await emptyWallet(h.rpcUrl, h, wallet, 1_000_000n);
    expect((await call('x', payment)).status).toBe(402);
    const other = await h.newWallet(0n);
    const forged = await payV2(h, other, await call('x'), { signature: paymentIn(payment).signature });
    expect((await call('x', forged)).status).toBe(402);
    expect([await accountsOf(wallet.address), await accountsOf(other.address)]).toEqual([[], []]);
  });

  it('more calls of a wallet in an hour than the setting, before any charge; repetitions do not count', async () => {
    const wallet = await h.newWallet(1_000_000n);
    const { payment } = await buy(wallet, 'one');
    for (let nth = 0; nth < 3; nth++) expect((await call('one', payment)).status).toBe(200);
    await buy(wallet, 'two');
    await buy(wallet, 'three');
    const { answer } = await buy(wallet, 'four');
    expect(answer.body.error).toMatchObject({ code: 'RATE_LIMITED', details: { limit: 3, type: 'invocations' } });
    expect(await h.usdcOf(wallet.address)).toBe(1_000_000n - 3n * PRICE);
  });
});

describe('an Idempotency-Key without an API key', () => {
  it('belongs to the paying wallet: a second payment under it is not collected, and finds the first result', async () => {
    const wallet = await h.newWallet(1_000_000n);
    const headers = { 'idempotency-key': 'order-1' };
    const first = await buy(wallet, 'once', payV2, headers);
    const second = await buy(wallet, 'once', payV2, headers);
    const { requestId } = first.answer.body.data;
    expect(second.answer.body.data).toMatchObject({ requestId, result: { echo: 'once' } });
    expect(await h.usdcOf(wallet.address)).toBe(1_000_000n - PRICE);
    const other = await h.newWallet(1_000_000n);
    const others = await buy(other, 'once', payV2, headers);
    expect(others.answer.body.data.requestId).not.toBe(requestId);
    expect(await h.usdcOf(other.address)).toBe(1_000_000n - PRICE);
    expect((await buy(wallet, 'another', payV2, headers)).answer.status).toBe(409);
  });

  it('shows the result to another payment of the wallet when the owner has changed the price since, v1 or v2', async () => {
    const wallet = await h.newWallet(1_000_000n);
    const headers = { 'idempotency-key': 'order-1' };
    const { answer } = await buy(wallet, 'repriced', payV2, headers);
    const { requestId } = answer.body.data;
    const reprice = (perRequest: string) =>
      h.request('PUT', `/agents/${agent.id}`, { key: owner.key, body: { rates: { perRequest } } });
    try {
      for (const [price, pay] of [['0.050001', payV2] as const, ['0.01', payV1] as const]) {
        expect((await reprice(price)).status).toBe(200);
        const again = await buy(wallet, 'repriced', pay, headers);
        expect(again.answer.body.data).toMatchObject({ requestId, result: { echo: 'repriced' } });
      }
      // Signed without a thought, for anybody who asks.
      const ofNothing = await payV2(h, wallet, await call('repriced'), { value: 0n });
      const withheld = await call('repriced', { ...headers, ...ofNothing });
      expect(withheld.body.data).toMatchObject({ requestId });
      expect(Object.keys(withheld.body.data)).not.toContain('result');
    } finally {
      await reprice('0.05');
    }
    expect(await h.usdcOf(wallet.address)).toBe(1_000_000n - PRICE);
  });

  it('discloses nothing to a stranger who names the wallet under a signature of their own', async () => {
    const wallet = await h.newWallet(1_000_000n);
    const headers = { 'idempotency-key': 'order-1' };
    await buy(wallet, 'once', payV2, headers);
    const thief = await h.newWallet(1_000_000n);
    const theirs = paymentIn(await payV2(h, thief, await call('once')));
    const forged = await payV2(h, wallet, await call('once'), { signature: theirs.signature });
    const shown = await call('once', { ...headers, ...forged });
    expect(shown.body.data?.result).toBeUndefined();
    expect(shown.body.data?.resultToken).toBeUndefined();
  });
});

it('the same payment sent 8 times at once is one run, one account and one request', async () => {
  const wallet = await h.newWallet(1_000_000n);
  const runs = agent.calls.length;
  const payment = await payV2(h, wallet, await call('once'));
  const answers = await Promise.all(Array.from({ length: 8 }, () => call('once', payment)));
  expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
  expect(new Set(answers.map(({ body }) => body.data.requestId)).size).toBe(1);
  for (const { body } of answers) expect(body.data.result).toEqual({ echo: 'once', input: {} });
  expect(agent.calls.length - runs).toBe(1);
  expect(await accountsOf(wallet.address)).toHaveLength(1);
});

it('two payments of a new wallet under one key at once are one purchase: both calls get its result, and one is collected', async () => {
  const wallet = await h.newWallet(1_000_000n);
  const key = { 'idempotency-key': `first-${wallet.address}` };
  const runs = agent.calls.length;
  const payments = await Promise.all([1, 2].map(async () => payV2(h, wallet, await call('together', key))));
  const answers = await Promise.all(payments.map((payment) => call('together', { ...key, ...payment })));
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(new Set(answers.map(({ body }) => body.data.requestId)).size).toBe(1);
  expect(agent.calls.length - runs).toBe(1);
  expect(await h.usdcOf(wallet.address)).toBe(1_000_000n - PRICE);
});

describe('under other settings', () => {
  it('an address opens as many accounts in an hour as it may sign in, and a payment beyond is not taken', async () => {
    const strict = await startHarness({ env: { SIGN_INS_PER_HOUR: '1' } });
    const paid = await startTestAgent(strict, { perRequest: '0.05' });
    const pay = async (wallet: TestWallet, task: string) => {
      const send = (headers: Headers = {}) => strict.request('POST', `/x402/${paid.id}`, { body: { task }, headers });
      return send(await payV2(strict, wallet, await send()));
    };
    const [first, second] = await Promise.all([strict.newWallet(1_000_000n), strict.newWallet(1_000_000n)]);
    expect((await pay(first, 'one')).status).toBe(200);
    expect((await pay(first, 'two')).status).toBe(200);
    const refused = await pay(second, 'one');
    expect(refused.body.error).toMatchObject({ code: 'RATE_LIMITED', details: { limit: 1, type: 'signIns' } });
    expect(refused.headers.get('x-ratelimit-limit')).toBe('1');
    expect(refused.headers.get('x-ratelimit-type')).toBeNull();
    expect(await strict.usdcOf(second.address)).toBe(1_000_000n);
    await paid.die();
    await strict.stop();
  });

  it('a gateway that is left out answers 404', async () => {
    const without = await startHarness({ env: { GATEWAYS: '' } });
    const answers = await Promise.all([
      without.request('POST', '/x402/agt_1', { body: { task: 'x' } }),
      without.request('POST', '/mcp', { body: {} }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([404, 404]);
    await without.stop();
  });
});
