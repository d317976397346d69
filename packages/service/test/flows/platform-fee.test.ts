import { afterAll, beforeAll, expect, it } from 'vitest';
import { contradictions } from '../support/books.ts';
import { type Harness, startHarness, type TestAccount } from '../support/harness.ts';
import { startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { type Client, newClient } from '../support/treasury.ts';
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
