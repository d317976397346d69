import { MULTICALL3_ADDRESS } from '@agent-network/chain/addresses';
import { callChain } from '@agent-network/chain/chain-rpc-client';
import { formatUsdc, parseUsdc } from '@agent-network/contracts/money';
import { zeroAddress } from 'viem';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { findMoneyContradictions } from '../../src/calls/finish/audit-money.ts';
import { settleBills } from '../../src/calls/finish/settle-bills.ts';
import { recoverInvocations } from '../../src/calls/run/recover-invocations.ts';
import { reconcilePayments } from '../../src/payments/reconcile/reconcile.ts';
import { type Billing, createTill, type Till } from '../support/billing-agent.ts';
import { askDatabase, contradictions, walletByBooks } from '../support/books.ts';
import { paymentIn } from '../support/chain-actions.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { leaveOverdue } from '../support/leave-overdue.ts';
import { answerWith, type Behaviour, echo, startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { balanceOf, type Client, newClient, sumOfHistory, untilEnded, untilUsdc } from '../support/treasury.ts';
import { until } from '../support/until.ts';
import { payV2 } from '../support/x402-payer.ts';

const sync = { 'x-sync': 'true' };
const refuse = answerWith(500, { error: { message: 'no' } });
const BILL = 30_000n;

let h: Harness;
let owner: Client;
let client: Client;
let agent: TestAgent;
let till: Till;
let offsetMs = 0;

beforeAll(async () => {
  h = await startHarness({ clock: { now: () => new Date(Date.now() + offsetMs) } });
  owner = await newClient(h, '0.000001');
  agent = await startTestAgent(h, { owner, perRequest: '0.05' });
});
beforeEach(() => {
  till = createTill(h);
  agent.calls.length = 0;
});
afterEach(async () => {
  await h.ctx.settler.idle();
  await settleBills(h.ctx);
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  expect(await findMoneyContradictions(h.ctx)).toEqual([]);
  expect(await walletByBooks(h.databaseUrl)).toBe(await h.usdcOf(h.ctx.wallet.address));
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

const invoke = async (headers: Record<string, string> = sync, key = client.key) =>
  (await h.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'hello' }, headers })).body.data;
const read = async (requestId: string, key = client.key) =>
  (await h.request('GET', `/invoke/${requestId}`, { key })).body.data;
const earned = async () => parseUsdc((await balanceOf(h, owner.key)).available);
const charges = async () =>
  (await h.request('GET', '/payments/history', { key: client.key })).body.data.payments.filter(
    ({ type }: { type: string }) => type === 'charge',
  );
const billOf = async (requestId: string): Promise<{ state: string } | undefined> =>
  (
    await askDatabase<{ state: string }>(
      h.databaseUrl,
      `select state from chain_payment where subject_id = $1 and purpose = 'bill'`,
      [requestId],
    )
  )[0];

/** Both clocks pass the end of every bill. */
async function letBillsLapse(): Promise<void> {
  offsetMs += 400_000;
  await callChain(h.rpcUrl, 'evm_increaseTime', 400);
  await callChain(h.rpcUrl, 'evm_mine');
  await settleBills(h.ctx);
}

const newClientForEach = () =>
  beforeEach(async () => {
    client = await newClient(h, '1.00');
  });

describe('an agent that answers 402', () => {
  newClientForEach();

  it.each([
    ['version 2, collecting before its work', { version: 2, collects: 'first' }],
    ['version 2, collecting after its work', { version: 2, collects: 'last' }],
    ['version 1', { version: 1 }],
    ['a bill of exactly the price', { amountMicro: 50_000n }],
  ] satisfies [string, Billing][])('is paid what it bills, once, from the hold: %s', async (_name, billing) => {
    const amountMicro = 'amountMicro' in billing ? billing.amountMicro : BILL;
    const before = await earned();
    agent.behave(till.bill(billing));
    const record = await invoke();
    expect(record).toMatchObject({ status: 'completed', result: { echo: 'hello' }, cost: formatUsdc(amountMicro) });
    expect(record.refund).toBe(formatUsdc(50_000n - amountMicro));
    expect(await balanceOf(h, client.key)).toEqual({ available: formatUsdc(1_000_000n - amountMicro), held: '0.00' });
    expect(await untilUsdc(h, till.address, amountMicro)).toBe(amountMicro);

    await settleBills(h.ctx);
    expect(await billOf(record.requestId)).toEqual({ state: 'settled' });
    expect(await earned()).toBe(before);
    expect(await charges()).toMatchObject([{ status: 'confirmed', amount: formatUsdc(amountMicro) }]);
    expect(formatUsdc(await sumOfHistory(h, client.key))).toBe((await balanceOf(h, client.key)).available);
    expect(agent.calls.map(({ headers }) => headers['idempotency-key'])).toEqual([record.requestId, record.requestId]);
    for (const { headers } of agent.calls) expect(headers['webhook-signature']).toBeTruthy();
  });

  it('sets only its bill aside, so the rest is free while it works', async () => {
    const gate = Promise.withResolvers<void>();
    const working = Promise.withResolvers<void>();
    const work: Behaviour = async (request, response) => {
      working.resolve();
      await gate.promise;
      await echo(request, response);
    };
    agent.behave(till.bill({ work }));
    const { requestId } = await invoke({});
    await working.promise;
    expect(await balanceOf(h, client.key)).toEqual({ available: '0.97', held: '0.00' });
    await settleBills(h.ctx);
    expect(await walletByBooks(h.databaseUrl)).toBe(await h.usdcOf(h.ctx.wallet.address));
    gate.resolve();
    expect(await untilEnded(h, client.key, requestId)).toMatchObject({ status: 'completed', cost: '0.03' });
  });

  it.each([
    ['as long as it asks for', 20, undefined, 20],
    ['five minutes at most', 4000, undefined, 300],
    ['a minute past the deadline at most', 4000, 30_000, 90],
  ])('gets a payment that is good for %s', async (_name, maxTimeoutSeconds, deadlineMs, maxS) => {
    agent.behave(till.bill({ changes: { maxTimeoutSeconds } }));
    const nowMs = h.ctx.clock.now().getTime();
    const deadline = deadlineMs === undefined ? {} : { deadline: new Date(nowMs + deadlineMs).toISOString() };
    const body = { task: 'hello', ...deadline };
    await h.request('POST', `/invoke/${agent.id}`, { key: client.key, body, headers: sync });
    const { authorization } = paymentIn({ 'payment-signature': till.shown[0] ?? '' });
    const windowS = Number(authorization.validBeforeS) - nowMs / 1000;
    expect(windowS).toBeGreaterThan(maxS - 2);
    expect(windowS).toBeLessThan(maxS + 5);
  });

  it('costs its bill whatever it says that it cost', async () => {
    agent.behave(till.bill({ work: answerWith(200, { result: 1, cost: '0.01' }) }));
    expect(await invoke()).toMatchObject({ status: 'completed', cost: '0.03', refund: '0.02' });
  });

  it('is paid from a wallet that paid by x402, which gets the rest back', async () => {
    const { key } = await h.newAccount();
    const wallet = await h.newWallet(50_000n);
    const unpaid = await h.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'hello' } });
    agent.behave(till.bill());
    const record = await invoke(await payV2(h, wallet, unpaid), key);
    expect(record).toMatchObject({ status: 'completed', cost: '0.03', refund: '0.02', paymentMethod: 'x402' });
    expect(await untilUsdc(h, wallet.address, 20_000n)).toBe(20_000n);
    expect(await untilUsdc(h, till.address, BILL)).toBe(BILL);
  });

  it('may stream its answer once it is paid', async () => {
    const work: Behaviour = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end('event: chunk\ndata: {"n":1}\n\nevent: result\ndata: {"result":"streamed"}\n\n');
    };
    agent.behave(till.bill({ work }));
    const headers = { accept: 'text/event-stream' };
    const body = { task: 'hello', stream: true };
    const { body: text } = await h.request('POST', `/invoke/${agent.id}`, { key: client.key, body, headers });
    expect(text).toContain('event: invocation.chunk');
    expect(text).toContain('"result":"streamed"');
    expect(text).toContain('"cost":"0.03"');
  });

  it('may go on by itself once it is paid, and is not paid at its status_url', async () => {
    const statuses: Behaviour[] = [answerWith(200, { status: 'processing' }), answerWith(200, { result: 'polled' })];
    const aside = await startTestAgent(h, {
      perRequest: '0.05',
      aside: (message, response) => void statuses.shift()?.({ headers: message.headers, body: null }, response),
    });
    const call = { key: client.key, body: { task: 'hello' }, headers: sync };
    aside.behave(till.bill({ work: answerWith(202, { status_url: '/status' }) }));
    const { data } = (await h.request('POST', `/invoke/${aside.id}`, call)).body;
    expect(data).toMatchObject({ status: 'completed', result: 'polled', cost: '0.03' });

    statuses.push(till.bill());
    aside.behave(answerWith(202, { status_url: '/status' }));
    const asked = (await h.request('POST', `/invoke/${aside.id}`, call)).body.data;
    expect(asked).toMatchObject({ status: 'failed', cost: '0.00', error: { code: 'agent_error' } });
    await aside.die();
  });

  it('is paid by each request of a bulk by itself; who is cancelled may still collect', async () => {
    const slow = await startTestAgent(h, { owner, perRequest: '0.05' });
    const slowTill = createTill(h);
    const isPaid = Promise.withResolvers<void>();
    slow.behave(slowTill.bill({ work: () => isPaid.resolve() }));
    agent.behave(async (request, response) => {
      await isPaid.promise;
      await till.bill()(request, response);
    });
    const body = { task: 'hello', agents: [agent.id, slow.id], strategy: 'first_success' };
    const { bulkId } = (await h.request('POST', '/invoke/bulk', { key: client.key, body })).body.data;
    const bulk = await until(async () => {
      const { data } = (await h.request('GET', `/invoke/bulk/${bulkId}`, { key: client.key })).body;
      return data.status === 'processing' ? null : data;
    });
    const records = await Promise.all(bulk.requests.map((each: { requestId: string }) => read(each.requestId)));
    const costs = records.map(({ status, cost }) => `${status} ${cost}`).sort();
    expect(costs).toEqual(['cancelled 0.03', 'completed 0.03']);
    expect(await balanceOf(h, client.key)).toEqual({ available: '0.94', held: '0.00' });
    await slow.die();
  });
});

describe('a bill that cannot be paid fails the call, and costs nothing', () => {
  beforeAll(async () => {
    client = await newClient(h, '1.00');
  });

  const other = '0x00000000000000000000000000000000000000aa';
  it.each([
    ['more than the price', { amountMicro: 50_001n }, 'bill_too_high'],
    ['nothing at all', { amountMicro: 0n }, 'bill_not_payable'],
    ['on another chain', { changes: { network: 'eip155:1' } }, 'bill_not_payable'],
    ['in another token', { changes: { asset: other } }, 'bill_not_payable'],
    ['in a token of another name', { extra: { name: 'Other Coin' } }, 'bill_not_payable'],
    ['by Permit2', { extra: { assetTransferMethod: 'permit2' } }, 'bill_not_payable'],
    ['by another scheme', { changes: { scheme: 'upto' } }, 'bill_not_payable'],
    ['to the zero address', { changes: { payTo: zeroAddress } }, 'bill_not_payable'],
    ['to a contract from which anyone takes', { changes: { payTo: MULTICALL3_ADDRESS } }, 'bill_not_payable'],
  ] satisfies [string, Billing, string][])('%s', async (_name, billing, code) => {
    agent.behave(till.bill(billing));
    expect(await invoke()).toMatchObject({ status: 'failed', cost: '0.00', refund: '0.05', error: { code } });
    expect(till.shown).toEqual([]);
    expect(await balanceOf(h, client.key)).toEqual({ available: '1.00', held: '0.00' });
  });

  it('to the token, or to the node itself', async () => {
    for (const payTo of [h.ctx.chain.token, h.ctx.chain.wallet]) {
      agent.behave(till.bill({ changes: { payTo } }));
      expect(await invoke()).toMatchObject({ status: 'failed', cost: '0.00', error: { code: 'bill_not_payable' } });
    }
  });

  it.each([
    ['without terms', answerWith(402, {})],
    ['with a header that is no base64 JSON', answerWith(402, {}, { 'payment-required': '%%%' })],
    ['of an unknown version', answerWith(402, { x402Version: 3, accepts: [] })],
  ])('%s', async (_name, behaviour) => {
    agent.behave(behaviour);
    expect(await invoke()).toMatchObject({ status: 'failed', cost: '0.00', error: { code: 'bill_not_payable' } });
    expect(agent.calls).toHaveLength(1);
  });

  it('for a free call', async () => {
    const free = await startTestAgent(h, { perRequest: '0.00', behaviour: till.bill() });
    const { data } = (
      await h.request('POST', `/invoke/${free.id}`, { key: client.key, body: { task: 'x' }, headers: sync })
    ).body;
    expect(data).toMatchObject({ status: 'failed', cost: '0.00', error: { code: 'bill_too_high' } });
    await free.die();
  });
});

describe('a request that is no longer ours when the agent asks to be paid', () => {
  newClientForEach();

  it.each([
    ['another process has taken it over', 'update invocation set attempt = attempt + 1, worker = null where id = $1'],
    ['it has ended', `update invocation set status = 'failed', completed_at = now() where id = $1`],
  ])('is not paid for: %s', async (_name, change) => {
    const [asked, gate] = [Promise.withResolvers<string>(), Promise.withResolvers<void>()];
    agent.behave(async (request, response) => {
      asked.resolve(request.body.request_id);
      await gate.promise;
      await till.bill()(request, response);
    });
    await invoke({});
    const requestId = await asked.promise;
    agent.behave(() => undefined);
    await askDatabase(h.databaseUrl, change, [requestId]);
    gate.resolve();
    const isLetGo = async () => (h.ctx.runner.trackedIds().includes(requestId) ? null : true);
    await until(isLetGo);
    expect(await billOf(requestId)).toBeUndefined();
    expect(till.shown).toEqual([]);
    expect(await balanceOf(h, client.key)).toEqual({ available: '0.95', held: '0.05' });
    await askDatabase(h.databaseUrl, `update invocation set status = 'processing', completed_at = null where id = $1`, [
      requestId,
    ]);
    await h.request('POST', `/invoke/${requestId}/cancel`, { key: client.key });
    expect(await balanceOf(h, client.key)).toEqual({ available: '1.00', held: '0.00' });
  });
});

describe('an agent that was shown a payment', () => {
  newClientForEach();

  it('and asks for another is shown the same, a few times, then the call fails; unused, all of it comes back', async () => {
    let amountMicro = BILL;
    agent.behave((request, response) => {
      till.shown.push(...[request.headers['payment-signature']].flatMap((header) => (header ? [`${header}`] : [])));
      amountMicro += 1n;
      return till.bill({ amountMicro })({ ...request, headers: {} }, response);
    });
    const record = await invoke();
    expect(record).toMatchObject({ status: 'failed', cost: '0.030001', error: { code: 'bill_repeated' } });
    expect(till.shown.length).toBe(4);
    expect(new Set(till.shown).size).toBe(1);
    await letBillsLapse();
    expect(await read(record.requestId)).toMatchObject({ status: 'failed', cost: '0.00', refund: '0.05' });
    expect(await balanceOf(h, client.key)).toEqual({ available: '1.00', held: '0.00' });
  });

  it('collects, then fails: the record says so, and the rest is back', async () => {
    agent.behave(till.bill({ work: refuse }));
    const record = await invoke();
    expect(record).toMatchObject({ status: 'failed', cost: '0.03', refund: '0.02', error: { code: 'agent_error' } });
    await letBillsLapse();
    expect(await read(record.requestId)).toEqual(record);
    expect(await billOf(record.requestId)).toEqual({ state: 'settled' });
    expect(await balanceOf(h, client.key)).toEqual({ available: '0.97', held: '0.00' });
    expect(await h.usdcOf(till.address)).toBe(BILL);
  });

  it('collects, then fails: the history sums up what it lists, of each status and agent', async () => {
    const today = h.ctx.clock.now().toISOString().slice(0, 10);
    const other = await startTestAgent(h, { owner, perRequest: '0.05' });
    agent.behave(till.bill({ work: refuse }));
    expect(await invoke()).toMatchObject({ status: 'failed', cost: '0.03' });
    const paid = Promise.withResolvers<void>();
    agent.behave(till.bill({ amountMicro: 20_000n, work: () => paid.resolve() }));
    const { requestId } = await invoke({});
    await paid.promise;
    await h.request('POST', `/invoke/${requestId}/cancel`, { key: client.key });
    for (const { id } of [agent, other]) {
      agent.behave(echo);
      const call = { key: client.key, body: { task: 'hello' }, headers: sync };
      expect((await h.request('POST', `/invoke/${id}`, call)).body.data.status).toBe('completed');
    }
    const sumsOf = async (filter: string) => {
      const { data } = (await h.request('GET', `/invoke/history?${filter}`, { key: client.key })).body;
      const listed = data.requests.reduce((sum: bigint, each: { cost: string }) => sum + parseUsdc(each.cost), 0n);
      expect({ filter, cost: data.totalCost }).toEqual({ filter, cost: formatUsdc(listed) });
      return `${data.total} ${data.totalCost}`;
    };
    const filters = ['status=failed', 'status=cancelled', 'status=completed', 'limit=20'];
    const sums = ['1 0.03', '1 0.02', '2 0.10', '4 0.15'];
    expect(await Promise.all(filters.map(sumsOf))).toEqual(sums);
    expect(await Promise.all(filters.map((filter) => sumsOf(`${filter}&startDate=${today}`)))).toEqual(sums);
    const ofOther = filters.map((filter) => sumsOf(`${filter}&agentId=${other.id}`));
    expect(await Promise.all(ofOther)).toEqual(['0 0.00', '0 0.00', '1 0.05', '1 0.05']);
    await other.die();
  });

  it('never collects, but did its work: its bill becomes an earning of its treasury, without a fee', async () => {
    const before = await earned();
    agent.behave(till.bill({ collects: 'never' }));
    const record = await invoke();
    await settleBills(h.ctx);
    expect(await charges()).toMatchObject([{ status: 'pending', amount: '0.03' }]);
    // Nor does the node collect for it.
    await reconcilePayments(h.ctx, 0);
    await h.ctx.settler.idle();
    expect(await h.usdcOf(till.address)).toBe(0n);
    await letBillsLapse();
    expect((await earned()) - before).toBe(BILL);
    expect(await read(record.requestId)).toMatchObject({ status: 'completed', cost: '0.03', refund: '0.02' });
    expect(await charges()).toMatchObject([{ status: 'confirmed', amount: '0.03' }]);
    await letBillsLapse();
    expect((await earned()) - before).toBe(BILL);
  });

  it('calls itself and never collects: its bill goes back to its treasury, and the call cost nothing', async () => {
    // What it earns by a call pays for the call to itself.
    agent.behave(echo);
    await invoke();
    agent.behave(till.bill({ collects: 'never' }));
    const before = await earned();
    const record = await invoke(sync, agent.identityToken);
    expect(record).toMatchObject({ status: 'completed', cost: '0.03' });
    await letBillsLapse();
    expect(await read(record.requestId, agent.identityToken)).toMatchObject({ cost: '0.00', refund: '0.05' });
    expect(await earned()).toBe(before);
  });

  it('never collects, and fails: the payer has its bill back once it has expired, and hears of it', async () => {
    agent.behave(till.bill({ collects: 'never', work: refuse }));
    const record = await invoke();
    expect(record).toMatchObject({ status: 'failed', cost: '0.03', refund: '0.02' });
    expect(await balanceOf(h, client.key)).toEqual({ available: '0.97', held: '0.00' });
    await settleBills(h.ctx);
    expect(await read(record.requestId)).toEqual(record);
    await letBillsLapse();
    expect(await read(record.requestId)).toEqual({ ...record, cost: '0.00', refund: '0.05' });
    expect(await balanceOf(h, client.key)).toEqual({ available: '1.00', held: '0.00' });
    expect(await charges()).toMatchObject([{ status: 'failed', amount: '0.03' }]);
    const { events } = (await h.request('GET', '/events?limit=100', { key: client.key })).body.data;
    const refunds = events.filter(({ type }: { type: string }) => type === 'payment.refunded');
    expect(refunds).toMatchObject([{ data: { type: 'refund', amount: '0.03', requestId: record.requestId } }]);
    const statement = `/payments/treasury/${client.treasuryId}/statement`;
    const { entries } = (await h.request('GET', statement, { key: client.key })).body.data;
    expect(entries.slice(1)).toMatchObject([
      { type: 'bill', amount: '0.03', requestId: record.requestId, balance: '0.97' },
      { type: 'bill_return', amount: '0.03', requestId: record.requestId, balance: '1.00' },
    ]);
  });

  it('never collects, and fails: a wallet that paid by x402 has all of it back, in two transfers', async () => {
    const { key } = await h.newAccount();
    const wallet = await h.newWallet(50_000n);
    const unpaid = await h.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'hello' } });
    agent.behave(till.bill({ collects: 'never', work: refuse }));
    const record = await invoke(await payV2(h, wallet, unpaid), key);
    expect(record).toMatchObject({ status: 'failed', cost: '0.03', refund: '0.02' });
    expect(await untilUsdc(h, wallet.address, 20_000n)).toBe(20_000n);
    await letBillsLapse();
    expect(await untilUsdc(h, wallet.address, 50_000n)).toBe(50_000n);
    await reconcilePayments(h.ctx, 0);
    expect(await read(record.requestId, key)).toMatchObject({ cost: '0.00', refund: '0.05' });
    const { payments } = (await h.request('GET', '/payments/history', { key })).body.data;
    const rows = payments
      .map(({ type, amount, status }: Record<string, string>) => `${type} ${amount} ${status}`)
      .sort();
    expect(rows).toEqual(['refund 0.02 confirmed', 'refund 0.03 confirmed', 'x402 0.05 confirmed']);
  });

  it('is cancelled: the rest is back at once, the bill when it was not collected', async () => {
    const paid = Promise.withResolvers<void>();
    agent.behave(till.bill({ collects: 'never', work: () => paid.resolve() }));
    const { requestId } = await invoke({});
    await paid.promise;
    const cancelled = await h.request('POST', `/invoke/${requestId}/cancel`, { key: client.key });
    expect(cancelled.body.data).toMatchObject({ cancelled: true, refund: '0.02' });
    expect(await balanceOf(h, client.key)).toEqual({ available: '0.97', held: '0.00' });
    await letBillsLapse();
    expect(await read(requestId)).toMatchObject({ status: 'cancelled', cost: '0.00', refund: '0.05' });
    expect(await balanceOf(h, client.key)).toEqual({ available: '1.00', held: '0.00' });
  });

  it('lets its bill expire while it still works: it is decided when the call ends', async () => {
    const gate = Promise.withResolvers<void>();
    const paid = Promise.withResolvers<void>();
    const work: Behaviour = async (request, response) => {
      paid.resolve();
      await gate.promise;
      await echo(request, response);
    };
    const before = await earned();
    agent.behave(till.bill({ collects: 'never', work }));
    const { requestId } = await invoke({});
    await paid.promise;
    await letBillsLapse();
    expect(await billOf(requestId)).toEqual({ state: 'claimed' });
    gate.resolve();
    expect(await untilEnded(h, client.key, requestId)).toMatchObject({ status: 'completed', cost: '0.03' });
    await settleBills(h.ctx);
    expect((await earned()) - before).toBe(BILL);
  });

  it('has collected, and nobody was there for its answer until after the deadline: that is fetched all the same', async () => {
    const paid = Promise.withResolvers<void>();
    const aside = await startTestAgent(h, {
      perRequest: '0.05',
      behaviour: till.bill({ work: () => paid.resolve() }),
      aside: ({ headers }, response) => void answerWith(200, { result: 'polled' })({ headers, body: null }, response),
    });
    const call = { key: client.key, body: { task: 'hello' } };
    const { requestId } = (await h.request('POST', `/invoke/${aside.id}`, call)).body.data;
    await paid.promise;
    aside.behave(till.bill({ work: answerWith(202, { status_url: '/status' }) }));
    await leaveOverdue(h, requestId);
    await recoverInvocations(h.ctx);
    const record = await untilEnded(h, client.key, requestId);
    expect(record).toMatchObject({ status: 'completed', result: 'polled', cost: '0.03' });
    expect(till.shown.length).toBe(2);
    expect(new Set(till.shown).size).toBe(1);
    await aside.die();
  });

  it('has not collected when the deadline is over: it is shown the payment no more, and the payer has it back', async () => {
    const paid = Promise.withResolvers<void>();
    agent.behave(till.bill({ collects: 'never', work: () => paid.resolve() }));
    const { requestId } = await invoke({});
    await paid.promise;
    await leaveOverdue(h, requestId);
    await recoverInvocations(h.ctx);
    const record = await untilEnded(h, client.key, requestId);
    expect(record).toMatchObject({ status: 'failed', cost: '0.03', error: { code: 'deadline_exceeded' } });
    expect(till.shown.length).toBe(1);
    await letBillsLapse();
    expect(await read(requestId)).toMatchObject({ cost: '0.00', refund: '0.05' });
  });

  it('closes the connection without an answer: it is asked again with the same payment', async () => {
    let isFirst = true;
    const work: Behaviour = (request, response) => {
      if (!isFirst) return echo(request, response);
      isFirst = false;
      response.destroy();
    };
    agent.behave(till.bill({ work }));
    expect(await invoke()).toMatchObject({ status: 'completed', cost: '0.03' });
    expect(till.shown.length).toBe(2);
    expect(new Set(till.shown).size).toBe(1);
  });

  it('breaks its stream off: it is asked again with the same payment, and no chunk is lost or told twice', async () => {
    const [first, second] = ['event: chunk\ndata: {"n":1}\n\n', 'event: chunk\ndata: {"n":2}\n\n'];
    const isStored = async (requestId: string) => {
      const rows = await askDatabase(h.databaseUrl, 'select from invocation_chunk where invocation_id = $1', [
        requestId,
      ]);
      return rows.length > 0;
    };
    const work: Behaviour = async ({ body }, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(first);
      if (till.shown.length > 1) return void response.end(`${second}event: result\ndata: {"result":"whole"}\n\n`);
      await until(() => isStored(body.request_id));
      response.destroy();
    };
    agent.behave(till.bill({ work }));
    const call = { key: client.key, body: { task: 'hello', stream: true }, headers: { accept: 'text/event-stream' } };
    const { body: text } = await h.request('POST', `/invoke/${agent.id}`, call);
    expect(String(text).match(/"n":\d|event: invocation\.(completed|failed)/g)).toEqual([
      ...['"n":1', '"n":2', 'event: invocation.completed'],
    ]);
    expect(text).toContain('"cost":"0.03"');
    expect(till.shown.length).toBe(2);
    expect(new Set(till.shown).size).toBe(1);
  });

  it('streams something else each time it is asked again: all of it together is no more than one stream may be', async () => {
    const isStored = async (requestId: string) => {
      const rows = await askDatabase(
        h.databaseUrl,
        'select from invocation_chunk where invocation_id = $1 and position = 6000',
        [requestId],
      );
      return rows.length > 0;
    };
    const work: Behaviour = async ({ body }, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`event: chunk\ndata: {"n":${till.shown.length}}\n\n`.repeat(6000));
      if (till.shown.length > 1) return void response.end('event: result\ndata: {"result":"whole"}\n\n');
      await until(() => isStored(body.request_id));
      response.destroy();
    };
    agent.behave(till.bill({ work }));
    const body = { task: 'hello', stream: true };
    const { requestId } = (await h.request('POST', `/invoke/${agent.id}`, { key: client.key, body })).body.data;
    const record = await untilEnded(h, client.key, requestId);
    expect(record).toMatchObject({ status: 'failed', error: { code: 'response_too_large' } });
    expect(till.shown.length).toBe(2);
  });
});
