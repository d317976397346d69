import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { contradictions, walletByBooks } from '../../../support/books.ts';
import { type Harness, startHarness } from '../../../support/harness.ts';
import { echo, startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { deposit, newClient, untilEnded } from '../../../support/treasury.ts';
import { until } from '../../../support/until.ts';
import { payV1, payV2 } from '../../../support/x402-payer.ts';
import { databaseDigest } from '../support/database-digest.ts';
import { expectError } from '../support/expect-error.ts';

let h: Harness;
let agent: TestAgent;
let owner: { key: string };
beforeAll(async () => {
  h = await startHarness();
  owner = await h.newAccount();
  agent = await startTestAgent(h, { owner: owner as never, perRequest: '0.05' });
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});
afterEach(async () => {
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  expect(await h.usdcOf(h.ctx.chain.wallet)).toBe(await walletByBooks(h.databaseUrl));
});

const create = (key: string, body: unknown = {}) => h.request('POST', '/payments/treasury', { key, body });
const pay = (key: string, body: object, headers = {}) =>
  h.request('POST', '/payments/treasury/deposit', { key, body, headers });
const balance = async (key: string) => (await h.request('GET', '/payments/balance', { key })).body.data;
const history = async (key: string, query = '') =>
  (await h.request('GET', `/payments/history${query}`, { key })).body.data;

const invoke = (key: string, headers = {}, body: object = {}) =>
  h.request('POST', `/invoke/${agent.id}`, {
    key,
    body: { task: 'x', ...body },
    headers: { 'x-sync': 'true', ...headers },
  });

describe('a treasury', () => {
  it('is one per account: created again, it is the same, also when asked for ten times at once', async () => {
    const { key } = await h.newAccount();
    const answers = await Promise.all(Array.from({ length: 10 }, () => create(key, { label: 'Main' })));
    expect(new Set(answers.map(({ body }) => body.data.treasuryId)).size).toBe(1);
    const { chain } = h.ctx;
    expect(answers[0]?.body.data).toMatchObject({
      address: chain.wallet,
      balance: '0.00',
      currency: 'USDC',
      network: chain.name,
      agentId: null,
      label: 'Main',
    });
    expect((await h.request('POST', '/payments/treasury', { key })).body.data).toEqual(answers[0]?.body.data);
  });

  it('takes a label that is given for it again, and keeps it where none is; an agent’s too', async () => {
    const { key } = await h.newAccount();
    const { treasuryId } = (await create(key)).body.data;
    expect((await create(key, { label: 'Main' })).body.data).toMatchObject({ treasuryId, label: 'Main' });
    expect((await create(key, {})).body.data.label).toBe('Main');
    expect((await create(owner.key, { agentId: agent.id, label: 'Earned' })).body.data.label).toBe('Earned');
    const { treasuries } = await balance(owner.key);
    expect(treasuries).toMatchObject([{ agentId: agent.id, label: 'Earned' }]);
  });

  it('of an agent exists from its registration, for its owner only', async () => {
    const mine = await create(owner.key, { agentId: agent.id });
    expect(mine.body.data).toMatchObject({ agentId: agent.id, balance: '0.00' });
    const stranger = await h.newAccount();
    expectError(await create(stranger.key, { agentId: agent.id }), 'NOT_FOUND');
    expectError(await create(stranger.key, { agentId: 'agt_01k0000000000000000000000a' }), 'NOT_FOUND');
  });
});

describe('a deposit', () => {
  it.each([
    ['v2', payV2],
    ['v1', payV1],
  ])('%s: asks for the amount, credits it once, and answers with the transaction', async (_version, sign) => {
    const { key } = await h.newAccount();
    const { treasuryId } = (await create(key)).body.data;
    const wallet = await h.newWallet(2_000_000n);
    const terms = await pay(key, { amount: '1.234567' });
    expectError(terms, 'PAYMENT_REQUIRED');
    expect(terms.body.error.payment).toMatchObject({ amount: '1.234567' });
    const headers = await sign(h, wallet, terms);
    const answers = await Promise.all(Array.from({ length: 5 }, () => pay(key, { amount: '1.234567' }, headers)));
    for (const { body } of answers)
      expect(body.data).toMatchObject({ treasuryId, amount: '1.234567', balance: '1.234567' });
    expect(new Set(answers.map(({ body }) => body.data.paymentId)).size).toBe(1);
    expect(await balance(key)).toMatchObject({ available: '1.234567', held: '0.00', pending: '0.00' });
    expect(await h.usdcOf(wallet.address)).toBe(2_000_000n - 1_234_567n);
    expect((await history(key)).payments).toMatchObject([
      { type: 'deposit', amount: '1.234567', status: 'confirmed', requestId: null },
    ]);
    expectError(await pay(key, { amount: '1.5' }, headers), 'CONFLICT');
  });

  it('of nothing, without a treasury, or into one that is not theirs is refused and changes nothing', async () => {
    const client = await newClient(h, '1');
    const { key } = await h.newAccount();
    const digest = await databaseDigest(h);
    for (const amount of ['0', '0.0', '0.000000'])
      expectError(await pay(client.key, { amount }), 'VALIDATION_ERROR', 'amount');
    expectError(await pay(key, { amount: '1' }), 'NOT_FOUND');
    const payer =
      (await h.ctx.db.pool.query(`select id from ledger_account where kind = 'payer' limit 1`)).rows[0]?.id ??
      'payer:0x';
    for (const treasuryId of [client.treasuryId, 'wallet', 'outgoing', payer, 'trs_01k0000000000000000000000a'])
      expectError(await pay(key, { amount: '1', treasuryId }), 'NOT_FOUND');
    expect(await databaseDigest(h)).toEqual(digest);
  });

  it('paid for another treasury, with another amount or as an invocation is refused', async () => {
    const [one, two] = [await newClient(h, '1'), await newClient(h, '1')];
    const wallet = await h.newWallet();
    const digest = await databaseDigest(h);
    const terms = await pay(one.key, { amount: '2' });
    const headers = await payV2(h, wallet, terms);
    for (const answer of [
      await pay(two.key, { amount: '2' }, headers),
      await pay(one.key, { amount: '2.000001' }, headers),
    ]) {
      expectError(answer, 'PAYMENT_REQUIRED');
      expect(answer.body.error.details.reason).toMatch(/offer|mismatch/);
    }
    expectError(
      await h.request('POST', `/invoke/${agent.id}`, { key: one.key, body: { task: 'x' }, headers }),
      'PAYMENT_REQUIRED',
    );
    expect(await databaseDigest(h)).toEqual(digest);
    expect(await h.usdcOf(wallet.address)).toBe(1_000_000_000n);
  });
});

describe('an invocation paid from a treasury', () => {
  it('costs is exact to the micro, in the balance of both and in the history of both', async () => {
    const client = await newClient(h, '0.12');
    const before = await balance(owner.key);
    const { body } = await invoke(client.key);
    expect(body.data).toMatchObject({ cost: '0.05', refund: '0.00', paymentMethod: 'treasury', paymentHash: null });
    expect(await balance(client.key)).toMatchObject({ available: '0.07', held: '0.00' });
    const earned = Number((await balance(owner.key)).available) - Number(before.available);
    expect(earned).toBeCloseTo(0.05, 9);
    const { requestId } = body.data;
    expect((await history(client.key)).payments[0]).toMatchObject({
      type: 'charge',
      amount: '0.05',
      requestId,
      status: 'confirmed',
    });
    expect((await history(owner.key)).payments[0]).toMatchObject({ type: 'earning', amount: '0.05', requestId });
  });

  it('cannot exceed what is there: of many at once as many run as can be paid', async () => {
    const client = await newClient(h, '0.12');
    const calls = agent.calls.length;
    const answers = await Promise.all(Array.from({ length: 9 }, () => invoke(client.key)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
    expect(agent.calls.length - calls).toBe(2);
    for (const refused of answers.filter(({ status }) => status !== 200)) {
      expectError(refused, 'INSUFFICIENT_FUNDS');
      expect(refused.body.error.details.required).toBe('0.05');
    }
    const last = await invoke(client.key);
    expect(last.body.error.details).toEqual({ required: '0.05', available: '0.02' });
  });

  it('of an agent that calls as itself comes out of its own treasury', async () => {
    const caller = await startTestAgent(h, { owner: await h.newAccount() });
    const answer = await invoke(caller.identityToken);
    expectError(answer, 'INSUFFICIENT_BALANCE');
    expect(answer.body.error.details).toEqual({ required: '0.05', available: '0.00' });
    await caller.die();
  });

  it('follows X-Payment-Method', async () => {
    const client = await newClient(h, '1');
    expectError(await invoke(client.key, { 'x-payment-method': 'x402' }), 'PAYMENT_REQUIRED');
    expect(await balance(client.key)).toMatchObject({ available: '1.00' });
    const { key } = await h.newAccount();
    expectError(await invoke(key, { 'x-payment-method': 'treasury' }), 'INSUFFICIENT_FUNDS');
    const wallet = await h.newWallet();
    const headers = await payV2(h, wallet, await invoke(client.key, { 'x-payment-method': 'x402' }));
    const forced = await invoke(client.key, { ...headers, 'x-payment-method': 'treasury' });
    expect(forced.body.data).toMatchObject({ paymentMethod: 'treasury', cost: '0.05' });
    expect(await h.usdcOf(wallet.address)).toBe(1_000_000_000n);
  });
});

describe('the spendable amount of a caller', () => {
  const newKey = async (key: string, more: object) =>
    (await h.request('POST', '/account/keys', { key, body: { name: 'a', ...more } })).body.data.apiKey;

  it('is what its treasury has, less holds, within the limits of its key', async () => {
    const client = await newClient(h, '1');
    const { treasuryId } = client;
    const spendable = async (key = client.key) => (await balance(key)).spendable;
    expect(await spendable()).toMatchObject({ treasuryId, perCall: '1.00', total: '1.00', limitedBy: 'funds' });
    agent.behave(() => undefined);
    const { requestId } = (await h.request('POST', `/invoke/${agent.id}`, { key: client.key, body: { task: 'x' } }))
      .body.data;
    expect(await spendable()).toMatchObject({ perCall: '0.95', total: '0.95' });
    await h.request('POST', `/invoke/${requestId}/cancel`, { key: client.key });
    await untilEnded(h, client.key, requestId);
    agent.behave(echo);

    const scopes = ['invoke', 'payments:read'];
    const small = await newKey(client.key, { scopes, limits: { perCall: '0.06', perDay: '0.09' } });
    expect(await spendable(small)).toMatchObject({ perCall: '0.06', total: '0.09', limitedBy: 'per_call' });
    await invoke(small);
    expect(await spendable(small)).toMatchObject({ perCall: '0.04', total: '0.04', limitedBy: 'per_day' });
    expectError(await invoke(small), 'SPENDING_LIMIT_EXCEEDED');
    const reader = await newKey(client.key, { scopes: ['payments:read'] });
    expect(await spendable(reader)).toMatchObject({ perCall: '0.00', total: '0.00', limitedBy: 'scope' });
  });

  it('is nothing without a treasury, and nothing when the calls of the hour are used up', async () => {
    const { key } = await h.newAccount({ plan: 'free' });
    const { spendable } = await balance(key);
    expect(spendable).toMatchObject({ treasuryId: null, perCall: '0.00', limitedBy: 'funds' });
    const client = await newClient(h, '1');
    await h.ctx.db.query('plan-free', `update account set plan = 'free' where id = $1`, [client.accountId]);
    const { callsLeft } = (await balance(client.key)).spendable;
    for (let left = callsLeft; left > 0; left--) await invoke(client.key);
    expect((await balance(client.key)).spendable).toMatchObject({ callsLeft: 0, perCall: '0.00', limitedBy: 'plan' });
    expectError(await invoke(client.key), 'RATE_LIMITED');
  });

  it('is that of its own treasury for an agent of an account with more treasuries than are listed', async () => {
    const client = await newClient(h, '1');
    const caller = await startTestAgent(h, { owner: client });
    const treasuryId = `trs_${caller.id.slice(4)}`;
    await h.ctx.db.query(
      'test-many-treasuries',
      `insert into ledger_account (id, kind, account_id, created_at)
       select 'trs_' || $1 || n, 'agent', $1, '2020-01-01' from generate_series(1, 1000) n`,
      [client.accountId],
    );
    await deposit(h, client.key, treasuryId, '0.3');
    expect(await balance(caller.identityToken)).toMatchObject({
      available: '0.30',
      spendable: { treasuryId, perCall: '0.30' },
    });
    expect(await history(caller.identityToken)).toMatchObject({ total: 1 });
    expect(await balance(client.key)).toMatchObject({ available: '1.30', held: '0.00' });
    await caller.die();
  });

  it('is of its own treasury for an agent; treasuries and payments have the names of agents', async () => {
    const client = await newClient(h, '1');
    const caller = await startTestAgent(h, { owner: client, name: 'Caller' });
    const treasuryId = `trs_${caller.id.slice(4)}`;
    expect((await balance(caller.identityToken)).spendable).toMatchObject({ treasuryId, perCall: '0.00' });
    expect((await balance(client.key)).treasuries).toMatchObject([
      { agentName: null },
      { treasuryId, agentName: 'Caller' },
    ]);
    await invoke(client.key);
    const [{ counterparty, counterpartyName }] = (await history(client.key)).payments;
    expect([counterparty, counterpartyName]).toEqual([agent.id, 'Test agent']);
    const statement = await h.request('GET', `/payments/treasury/${client.treasuryId}/statement?order=desc`, {
      key: client.key,
    });
    expect(statement.body.data.entries).toMatchObject([
      { type: 'charge', counterparty: agent.id, counterpartyName: 'Test agent', balance: '0.95' },
      { type: 'deposit', counterpartyName: null, balance: '1.00' },
    ]);
    const asked = await pay(client.key, { amount: '1', treasuryId });
    expect(asked.body.error.message).toBe(
      `Deposit of 1.00 USDC into the treasury of the agent "Caller" (${treasuryId}): it is credited once it is paid.`,
    );
    await caller.die();
  });
});

describe('the payment history', () => {
  it('pages through everything once, newest first, with the exact total', async () => {
    const client = await newClient(h, '0.01');
    for (let count = 0; count < 6; count++) await deposit(h, client.key, client.treasuryId, '0.01');
    const whole = await history(client.key);
    expect(whole).toMatchObject({ total: 7, hasMore: false });
    const pages = await Promise.all([0, 3, 6].map((offset) => history(client.key, `?limit=3&offset=${offset}`)));
    expect(pages.flatMap(({ payments }) => payments)).toEqual(whole.payments);
    expect(pages.map(({ hasMore, total }) => [hasMore, total])).toEqual([
      [true, 7],
      [true, 7],
      [false, 7],
    ]);
    expect((await history(client.key, '?offset=7')).payments).toEqual([]);
    const times = whole.payments.map(({ createdAt }: { createdAt: string }) => createdAt);
    expect(times).toEqual([...times].sort().reverse());
  });

  it('shows nothing of other accounts', async () => {
    const { key } = await h.newAccount();
    expect(await history(key)).toEqual({ payments: [], total: 0, hasMore: false, nextCursor: null });
    expect(await balance(key)).toMatchObject({ available: '0.00', held: '0.00', pending: '0.00', treasuries: [] });
  });

  it('shows an x402 payment and its refund with their transactions', async () => {
    const account = await h.newAccount();
    const wallet = await h.newWallet(1_000_000n);
    agent.behave((_request, response) => void response.writeHead(500).end());
    const send = (headers = {}) =>
      h.request('POST', `/invoke/${agent.id}`, { key: account.key, body: { task: 'x' }, headers });
    const { body } = await send(await payV2(h, wallet, await send()));
    expect(body.data).toMatchObject({ status: 'failed', refund: '0.05' });
    const confirmed = async () => {
      const { payments } = await history(account.key);
      return payments[0]?.status === 'confirmed' ? payments : null;
    };
    const payments = await until(confirmed);
    const { requestId, paymentHash } = body.data;
    expect(payments).toMatchObject([
      { type: 'refund', amount: '0.05', requestId, status: 'confirmed', transactionHash: expect.stringMatching(/^0x/) },
      { type: 'x402', amount: '0.05', requestId, status: 'confirmed', transactionHash: paymentHash },
    ]);
    expect(await h.usdcOf(wallet.address)).toBe(1_000_000n);
  });
});
