import { scopes } from '@agent-network/contracts/access/scopes';
import { formatUsdc, parseUsdc } from '@agent-network/contracts/money';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readReserves } from '../../src/payments/statements/read-reserves.ts';
import { contradictions } from '../support/books.ts';
import { type Harness, startHarness, type TestAccount } from '../support/harness.ts';
import { startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { type Client, newClient, untilUsdc } from '../support/treasury.ts';
import { payV2 } from '../support/x402-payer.ts';

let h: Harness;
let agent: TestAgent;
let owner: TestAccount;
let client: Client;
beforeAll(async () => {
  h = await startHarness({ env: { PLATFORM_FEE_BPS: '250' } });
  owner = await h.newAccount();
  agent = await startTestAgent(h, { owner, perRequest: '0.049999' });
  client = await newClient(h, '1');
});
afterAll(async () => {
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  await agent.die();
  await h.stop();
});

const get = async (key: string, path: string) => (await h.request('GET', path, { key })).body.data;
const invoke = (key: string, headers = {}) =>
  h.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'x' }, headers: { 'x-sync': 'true', ...headers } });
const agentTreasury = () => `trs_${agent.id.slice(4)}`;
const reserves = async () => (await h.ctx.reserves.read()).liabilities;

it('comes out of what the agent earns: the payer pays the price, the agent has the rest, the node the fee, rounded down', async () => {
  const { body } = await invoke(client.key);
  const { requestId } = body.data;
  expect(body.data).toMatchObject({ cost: '0.049999', refund: '0.00' });
  expect(await get(client.key, '/payments/balance')).toMatchObject({ available: '0.950001', held: '0.00' });
  // 0.049999 at 2.5 % is 0.001249975.
  expect(await get(owner.key, '/payments/balance')).toMatchObject({ available: '0.04875' });
  expect((await get(client.key, '/payments/history')).payments[0]).toMatchObject({
    type: 'charge',
    amount: '0.049999',
  });
  const [earning] = (await get(owner.key, '/payments/history')).payments;
  expect(earning).toMatchObject({ type: 'earning', amount: '0.04875', fee: '0.001249', requestId });
  expect((await get(owner.key, '/account/usage?days=1')).days[0].earned).toBe('0.04875');
  expect(await reserves()).toMatchObject({ agents: '0.04875', fees: '0.001249', total: '1.00' });

  const statement = await get(agent.identityToken, `/payments/treasury/${agentTreasury()}/statement`);
  expect(statement).toMatchObject({ openingBalance: '0.00', closingBalance: '0.04875', hasMore: false });
  expect(statement.entries).toMatchObject([
    { type: 'earning', direction: 'credit', amount: '0.049999', balance: '0.049999', requestId },
    { type: 'fee', direction: 'debit', amount: '0.001249', balance: '0.04875', requestId },
  ]);
});

it('is taken of an x402 call the same, and of one that fails not at all', async () => {
  const { key } = await h.newAccount();
  const wallet = await h.newWallet(1_000_000n);
  const paid = await invoke(key, await payV2(h, wallet, await invoke(key)));
  expect(paid.body.data).toMatchObject({ cost: '0.049999', paymentMethod: 'x402' });
  expect(await get(owner.key, '/payments/balance')).toMatchObject({ available: '0.0975' });
  agent.behave((_request, response) => void response.writeHead(500).end());
  const failed = await invoke(client.key);
  expect(failed.body.data).toMatchObject({ status: 'failed', refund: '0.049999' });
  expect(await get(owner.key, '/payments/balance')).toMatchObject({ available: '0.0975' });
});

it('is public: the rate stands in the reserves', async () => {
  expect((await h.request('GET', '/payments/reserves')).body.data.platformFeeBps).toBe(250);
});

it('leaves the statement of the payer with what it paid, to whom, and how it got there', async () => {
  const { entries, closingBalance } = await get(
    client.key,
    `/payments/treasury/${client.treasuryId}/statement?limit=500`,
  );
  expect(closingBalance).toBe('0.950001');
  expect(entries).toMatchObject([
    {
      type: 'deposit',
      direction: 'credit',
      amount: '1.00',
      paymentId: expect.stringMatching(/^pay_/),
      transactionHash: expect.stringMatching(/^0x/),
      counterparty: expect.stringMatching(/^0x/),
    },
    { type: 'charge', direction: 'debit', amount: '0.049999', counterparty: agent.id },
  ]);
  expect(await get(client.key, `/payments/treasury/${client.treasuryId}`)).toMatchObject({
    treasuryId: client.treasuryId,
    balance: '0.950001',
  });
});

it('leaves a withdrawal in the statement with its wallet and its transaction', async () => {
  const { body } = await h.request('POST', '/payments/withdraw', { key: client.key, body: { amount: '0.25' } });
  const { entries } = await get(client.key, `/payments/treasury/${client.treasuryId}/statement`);
  expect(entries.at(-1)).toMatchObject({
    type: 'withdrawal',
    direction: 'debit',
    amount: '0.25',
    balance: '0.700001',
    withdrawalId: body.data.withdrawalId,
    counterparty: client.address.toLowerCase(),
  });
});

describe("the node's income by fees", () => {
  const withdraw = (key: string, body: object, headers = {}) =>
    h.request('POST', '/payments/withdraw', { key, body: { from: 'fees', ...body }, headers });
  const newAddress = () => privateKeyToAddress(generatePrivateKey());
  const fees = async () => parseUsdc((await readReserves(h.ctx)).reserves.liabilities.fees);

  it('goes to a wallet of its operator, through its treasury and in its statement, and the reserves stay balanced', async () => {
    const operator = await newClient(h, '0.10');
    const earned = await fees();
    expect(earned).toBeGreaterThan(2n);
    const to = newAddress();
    const { body } = await withdraw(operator.key, { amount: '0.000002', to });
    const { withdrawalId } = body.data;
    expect(body.data).toMatchObject({ status: 'confirmed', amount: '0.000002', treasuryId: operator.treasuryId });
    expect(await h.usdcOf(to)).toBe(2n);
    expect(await fees()).toBe(earned - 2n);
    const { entries } = await get(operator.key, `/payments/treasury/${operator.treasuryId}/statement`);
    expect(entries.slice(1)).toMatchObject([
      { type: 'fee_payout', direction: 'credit', amount: '0.000002', balance: '0.100002', withdrawalId },
      { type: 'withdrawal', direction: 'debit', amount: '0.000002', balance: '0.10', withdrawalId },
    ]);
    const { payments } = await get(operator.key, '/payments/history');
    expect(payments[0]).toMatchObject({ type: 'withdrawal', amount: '0.000002', status: 'confirmed' });
    await expect.poll(async () => (await readReserves(h.ctx)).reserves.status).toBe('balanced');
  });

  it('is never paid out beyond what is there, however many ask at once, and once under one Idempotency-Key', async () => {
    const operator = await newClient(h, '0.10');
    const earned = await fees();
    const half = formatUsdc(earned / 2n + 1n);
    const to = newAddress();
    const answers = await Promise.all(Array.from({ length: 5 }, () => withdraw(operator.key, { amount: half, to })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422, 422, 422, 422]);
    const left = await fees();
    expect(left).toBe(earned - (earned / 2n + 1n));
    expect(await untilUsdc(h, to, earned - left)).toBe(earned - left);
    const beyond = await withdraw(operator.key, { amount: formatUsdc(left + 1n) });
    expect(beyond.body.error).toMatchObject({
      code: 'INSUFFICIENT_FUNDS',
      details: { required: formatUsdc(left + 1n), available: formatUsdc(left) },
    });
    const keyed = { 'idempotency-key': 'all-that-is-left' };
    const both = [await withdraw(operator.key, { amount: formatUsdc(left) }, keyed)];
    both.push(await withdraw(operator.key, { amount: formatUsdc(left) }, keyed));
    expect(both[1]?.body).toEqual(both[0]?.body);
    expect(await fees()).toBe(0n);
    expect(await get(operator.key, '/payments/balance')).toMatchObject({ available: '0.10' });
  });

  it('is for keys with the scope operator, and for their own treasuries', async () => {
    const most = await h.newAccount({ scopes: scopes.filter((scope) => scope !== 'operator') });
    await h.request('POST', '/payments/treasury', { key: most.key, body: {} });
    expect(await withdraw(most.key, { amount: '0.000001' })).toMatchObject({ status: 403 });
    const operator = await h.newAccount();
    expect(await withdraw(operator.key, { amount: '0.000001' })).toMatchObject({ status: 404 });
    expect(await withdraw(operator.key, { amount: '0.000001', treasuryId: client.treasuryId })).toMatchObject({
      status: 404,
    });
  });
});
