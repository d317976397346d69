import { parseUsdc } from '@agent-network/contracts/money';
import type { OperatorInvocation } from '@agent-network/contracts/network/operator-invocation';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { findMoneyContradictions } from '../../../src/calls/finish/audit-money.ts';
import { askDatabase, contradictions } from '../../support/books.ts';
import { type Harness, startHarness } from '../../support/harness.ts';
import { answerWith, startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { balanceOf, type Client, newClient, untilUsdc } from '../../support/treasury.ts';
import { until } from '../../support/until.ts';
import { payV2 } from '../../support/x402-payer.ts';
import { listNode, listRemote } from './support/list-node.ts';
import { startBeside, untilSettled } from './support/two-nodes.ts';

const sync = { 'x-sync': 'true' };
const refuse = answerWith(500, { error: { message: 'no' } });

let home: Harness;
let here: Harness;
let agent: TestAgent;
let owner: Client;
let client: Client;

beforeAll(async () => {
  home = await startHarness();
  here = await startBeside(home);
  owner = await newClient(home, '0.01');
  agent = await startTestAgent(home, { owner, perRequest: '0.05' });
  await listNode(home, here);
  await listRemote(here, await listNode(here, home), agent);
  client = await newClient(here, '10');
});
afterEach(async () => {
  for (const node of [home, here]) {
    await node.ctx.settler.idle();
    expect(await contradictions(node.databaseUrl)).toEqual([]);
    expect(await findMoneyContradictions(node.ctx)).toEqual([]);
    expect((await node.ctx.reserves.read()).status).not.toBe('drift');
  }
});
afterAll(async () => {
  await agent.die();
  await here.stop();
  await home.stop();
});

const invoke = async (headers: Record<string, string> = sync, key = client.key, more: object = {}) =>
  (await here.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'hello', ...more }, headers })).body.data;
const read = async (requestId: string, key = client.key) =>
  (await here.request('GET', `/invoke/${requestId}`, { key })).body.data;
const untilRead = (requestId: string, wanted: object, key = client.key) =>
  until(async () => {
    const record = await read(requestId, key);
    return Object.entries(wanted).every(([name, value]) => record[name] === value) ? record : null;
  });
async function paidCall(behaviour = answerWith(200, { result: 'paid' })) {
  const { key } = await here.newAccount();
  const wallet = await here.newWallet(50_000n);
  const unpaid = await here.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'hello' } });
  agent.behave(behaviour);
  return { key, wallet, record: await invoke(await payV2(here, wallet, unpaid), key) };
}

/** The account of this node at home, as the operator there reads and changes it. */
async function operatorOfHome() {
  const { key } = await home.newAccount({ scopes: ['operator'] });
  const ask = async (method: string, path: string, body?: object) =>
    (await home.request(method, `/operator/accounts${path}`, { key, body })).body.data;
  const { accountId } = (await ask('GET', `?search=${here.ctx.wallet.address}`)).accounts[0];
  return {
    accountId,
    read: () => ask('GET', `/${accountId}`),
    change: (verb: 'suspend' | 'resume') => ask('POST', `/${accountId}/${verb}`, { reason: 'a test' }),
  };
}

describe('an agent of another node', () => {
  it('is called although one caller has filled what the home keeps for an account of the free plan', async () => {
    const { accountId, read } = await operatorOfHome();
    const filledBytes = 257 * 1024 * 1024;
    const fill = 'insert into storage_change (account_id, bytes) values ($1, $2)';
    await askDatabase(home.databaseUrl, fill, [accountId, filledBytes]);
    const stored = async () => (await read()).storage;
    await expect.poll(async () => (await stored()).usedBytes).toBeGreaterThanOrEqual(filledBytes);
    agent.behave(answerWith(200, { result: 1 }));
    expect(await invoke()).toMatchObject({ status: 'completed' });
    expect((await stored()).mostBytes).toBe(1_000_000 * 1024 * 1024);
    await untilSettled(home, here);
  });

  it('is paid through its home from a treasury here, once', async () => {
    agent.behave(answerWith(200, { result: { echo: 'hello' } }));
    const before = await balanceOf(here, client.key);
    const [earned, calls] = [await balanceOf(home, owner.key), agent.calls.length];
    const record = await invoke(sync, client.key, {
      input: { a: 1 },
      context: 'c',
      metadata: { m: 1 },
      priority: 'high',
    });
    expect(record).toMatchObject({
      ...{ status: 'completed', result: { echo: 'hello' }, cost: '0.05', refund: '0.00', refundExpected: null },
    });
    expect(agent.calls).toHaveLength(calls + 1);
    expect(agent.calls.at(-1)?.body).toMatchObject({ task: 'hello', input: { a: 1 }, context: 'c', priority: 'high' });
    const after = await balanceOf(here, client.key);
    expect(parseUsdc(before.available) - parseUsdc(after.available)).toBe(50_000n);
    await untilSettled(home, here);
    expect(parseUsdc((await balanceOf(home, owner.key)).available) - parseUsdc(earned.available)).toBe(50_000n);
    const { entries } = (
      await here.request('GET', `/payments/treasury/${client.treasuryId}/statement`, { key: client.key })
    ).body.data;
    expect(entries.at(-1)).toMatchObject({ type: 'bill', amount: '0.05', requestId: record.requestId });
    const log = (await home.request('GET', `/agents/${agent.id}/calls`, { key: owner.key })).body.data;
    expect(log.calls[0]).toMatchObject({ caller: 'node', face: 'rest', status: 'completed', cost: '0.05' });
  });

  it('that is paid by usage costs what it used, once its home has returned the rest', async () => {
    const perUsage = { prices: [{ unit: 'page', price: '0.01' }], maximum: '0.20' };
    const priced = await startTestAgent(home, { owner, perRequest: '0.01', metadata: { perUsage } });
    const [{ id: nodeId = '' } = {}] = await askDatabase<{ id: string }>(
      here.databaseUrl,
      'select id from network_node',
    );
    await listRemote(here, nodeId, priced, '10000', { perUsage });
    priced.behave(answerWith(200, { result: 'read', usage: { units: [{ unit: 'page', quantity: '7' }], model: 'm' } }));
    const before = await balanceOf(here, client.key);
    const path = `/invoke/${priced.id}`;
    const refused = await here.request('POST', path, { key: client.key, body: { task: 'x', maxCost: '0.19' } });
    expect(refused.body.error.details.fields[0].message).toContain('0.20 USDC');
    const answer = await here.request('POST', path, { key: client.key, body: { task: 'x' }, headers: sync });
    const record = answer.body.data;
    expect(record).toMatchObject({ status: 'completed', usage: { source: 'agent', model: 'm', rated: '0.07' } });
    expect(await untilRead(record.requestId, { cost: '0.07' })).toMatchObject({ refund: '0.13', refundExpected: null });
    const after = await balanceOf(here, client.key);
    expect(parseUsdc(before.available) - parseUsdc(after.available)).toBe(70_000n);
    await untilSettled(home, here);
    await priced.die();
  });

  it('is paid by a wallet that paid here by x402', async () => {
    const { record } = await paidCall();
    expect(record).toMatchObject({ status: 'completed', result: 'paid', cost: '0.05', paymentMethod: 'x402' });
    await untilSettled(home, here);
  });

  it('that costs less than its price brings the difference back', async () => {
    agent.behave(answerWith(200, { result: 1, cost: '0.02' }));
    const before = await balanceOf(here, client.key);
    const { requestId } = await invoke();
    expect(await untilRead(requestId, { cost: '0.02' })).toMatchObject({ refund: '0.03', refundExpected: null });
    const after = await balanceOf(here, client.key);
    expect(parseUsdc(before.available) - parseUsdc(after.available)).toBe(20_000n);
    await untilSettled(home, here);
  });
});

describe('a call that fails there', () => {
  /** The invocation as an operator of this node sees it. */
  async function look(requestId: string): Promise<OperatorInvocation> {
    const { key } = await here.newAccount({ scopes: ['operator'] });
    return (await here.request('GET', `/operator/invocations/${requestId}`, { key })).body.data;
  }

  /** A call that leaves the agent's record at both nodes as it was. */
  async function invokeUnmarked(more: object = {}) {
    const failedOf = async (node: Harness) =>
      (await askDatabase(node.databaseUrl, 'select failed::int from agent_totals where agent_id = $1', [agent.id]))[0];
    const before = [await failedOf(here), await failedOf(home)];
    const record = await invoke(sync, client.key, more);
    expect([await failedOf(here), await failedOf(home)]).toEqual(before);
    const marks =
      'select 1 from outcome where request_id = $1 union all select 1 from outcome_due where request_id = $1';
    expect(await askDatabase(here.databaseUrl, marks, [record.requestId])).toEqual([]);
    return record;
  }

  it('comes back to a treasury when the home has refunded it on chain, and not before; operators see both', async () => {
    agent.behave(refuse);
    const before = await balanceOf(here, client.key);
    const record = await invoke();
    expect(record).toMatchObject({ status: 'failed', error: { code: 'agent_error' }, cost: '0.05', refund: '0.00' });
    expect(record.refundExpected).toBe('0.05');
    expect(await untilRead(record.requestId, { cost: '0.00' })).toMatchObject({ refund: '0.05', refundExpected: null });
    expect(await balanceOf(here, client.key)).toEqual(before);
    const seen = await look(record.requestId);
    expect(seen).toMatchObject({ reason: 'agent_error', home: { nodeId: expect.any(String) } });
    expect(seen.payments.find(({ purpose }) => purpose === 'home_refund')).toMatchObject({
      ...{ direction: 'in', state: 'settled', amount: '0.05', from: home.ctx.wallet.address },
    });
    expect(seen.refund).toMatchObject({
      ...{ amount: '0.05', expected: null },
      parts: [{ way: 'treasury', amount: '0.05', state: 'settled', to: client.treasuryId }],
    });
    await untilSettled(home, here);
    const { payments } = (await here.request('GET', '/payments/history', { key: client.key })).body.data;
    expect(payments[0]).toMatchObject({
      type: 'refund',
      amount: '0.05',
      status: 'confirmed',
      requestId: record.requestId,
    });
    const { entries } = (
      await here.request('GET', `/payments/treasury/${client.treasuryId}/statement`, { key: client.key })
    ).body.data;
    expect(entries.at(-1)).toMatchObject({
      ...{ type: 'bill_return', amount: '0.05', requestId: record.requestId, counterparty: home.ctx.wallet.address },
      transactionHash: payments[0].transactionHash,
    });
  });

  it('because its input does not fit the schema at home is refunded here at once, and is no mark against the agent', async () => {
    const declare = (types: unknown) => home.request('PUT', `/agents/${agent.id}`, { key: owner.key, body: { types } });
    const inputSchema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
    expect((await declare({ inputSchema })).status).toBe(200);
    agent.behave(answerWith(200, { result: 'typed' }));
    const calls = agent.calls.length;
    const before = await balanceOf(here, client.key);
    const refused = await invokeUnmarked({ input: { text: 7 } });
    expect(refused).toMatchObject({
      ...{ status: 'failed', cost: '0.00', refund: '0.05', refundExpected: null },
      error: { code: 'input_invalid', message: expect.stringContaining('input.text') },
    });
    expect(agent.calls).toHaveLength(calls);
    expect(await balanceOf(here, client.key)).toEqual(before);
    expect(await invoke(sync, client.key, { input: { text: 'x' } })).toMatchObject({ status: 'completed' });
    await untilSettled(home, here);
    await declare(null);
  });

  it('because the home takes no calls of this node is no mark against the agent', async () => {
    agent.behave(answerWith(200, { result: 'taken' }));
    const operator = await operatorOfHome();
    await operator.change('suspend');
    expect(await invokeUnmarked()).toMatchObject({
      ...{ status: 'failed', cost: '0.00', refund: '0.05', error: { code: 'agent_unreachable' } },
    });
    await operator.change('resume');
    expect(await invoke()).toMatchObject({ status: 'completed' });
    await untilSettled(home, here);
  });

  it('comes back to a wallet on chain; operators see the way', async () => {
    const { wallet, record, key } = await paidCall(refuse);
    expect(record).toMatchObject({ status: 'failed', cost: '0.05', refundExpected: '0.05' });
    expect(await untilUsdc(here, wallet.address, 50_000n)).toBe(50_000n);
    expect(await untilRead(record.requestId, { cost: '0.00' }, key)).toMatchObject({ refund: '0.05' });
    await untilSettled(home, here);
    expect((await look(record.requestId)).refund?.parts).toMatchObject([
      { way: 'on_chain', amount: '0.05', state: 'settled', to: wallet.address.toLowerCase() },
    ]);
  });
});
