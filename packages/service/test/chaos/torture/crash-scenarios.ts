import { createHash } from 'node:crypto';
import { formatUsdc, parseUsdc } from '@agent-network/contracts/money';
import { expect } from 'vitest';
import { contradictions, walletByBooks } from '../../support/books.ts';
import type { TestWallet } from '../../support/harness.ts';
import { answerWith, echo } from '../../support/test-agent.ts';
import { balanceOf, newClient } from '../../support/treasury.ts';
import { until } from '../../support/until.ts';
import { payV1, payV2 } from '../../support/x402-payer.ts';
import { askingCall, askingTaskCall } from './asking-scenarios.ts';
import { billedCall, uncollectedCall } from './billed-scenarios.ts';
import { channelCalls, failedVoucherCall, voucherCall, withdrawnCall } from './channel-scenarios.ts';
import { chosenPaidCall, chosenTreasuryCall } from './chosen-scenarios.ts';
import { type CrashSite, PRICE, PRICE_MICRO } from './crash-site.ts';
import type { Insisted } from './insist.ts';
import { untilNothingIsOpen } from './open-work.ts';
import { sentOnceCall } from './sent-once-scenarios.ts';
import { tokenTransfers } from './token-transfers.ts';
import { plainTransfer, unshownPayment } from './unasked-scenarios.ts';

/** Goes through one purchase or movement of money, calls `arm` where the process may die from then on, and checks the promise. */
type Scenario = (site: CrashSite, arm: () => Promise<void>) => Promise<void>;

const keysAt = (site: CrashSite): Set<unknown> =>
  new Set(site.agents.flatMap(({ calls }) => calls.map(({ headers }) => headers['idempotency-key'])));

/** Expects no open work, sound books, and a chain that matches them. */
async function expectPeace(site: CrashSite): Promise<void> {
  expect(await untilNothingIsOpen(site.databaseUrl, 20_000)).toEqual([]);
  expect(await contradictions(site.databaseUrl)).toEqual([]);
  // A sweep of claimed vouchers is booked within seconds of its block, and the next one may be mined at any time.
  let [held, booked] = [0n, -1n];
  const isEqual = async () => {
    [held, booked] = [await site.usdcOf(site.walletAddress), await walletByBooks(site.databaseUrl)];
    return held === booked;
  };
  await until(isEqual);
  expect(held).toBe(booked);
}

/** How often, and how much, the wallet paid the node and was paid by it. */
async function movements(site: CrashSite, { address }: TestWallet) {
  const { token } = site.ctx.chain;
  const paid = await tokenTransfers(site.chain.rpcUrl, token, { from: address, to: site.walletAddress });
  const gotBack = await tokenTransfers(site.chain.rpcUrl, token, { from: site.walletAddress, to: address });
  return { paid: paid.map((each) => each.valueMicro), gotBack: gotBack.map((each) => each.valueMicro) };
}

const earned = async (site: CrashSite) => parseUsdc((await balanceOf(site, site.owner.key)).available);

/** The record of the request that was paid for, once all is done. Fails when the client was refused anything on the way. */
async function recordOf(site: CrashSite, key: string, { answer, answers }: Insisted) {
  const refusals = answers.filter(({ status }) => status >= 400 && status < 500 && status !== 409);
  expect(refusals.map(({ body }) => body)).toEqual([]);
  expect(answer.body).toMatchObject({ status: 'success' });
  await expectPeace(site);
  // The process may die once its last work is recorded, in the middle of this.
  return (await site.insist('GET', `/invoke/${answer.body.data.requestId}`, { key })).answer.body.data;
}

interface PaidCall {
  readonly idempotencyKey?: string;
  readonly isQuoted?: boolean;
}

/** Where a call accepts a quote for it. */
async function quotePath(site: CrashSite, key: string, agentId: string): Promise<string> {
  const quote = await site.request('POST', `/invoke/${agentId}/quote`, { key, body: { task: 'survive' } });
  return quote.body.data.acceptUrl.replace(/^https?:\/\/[^/]+/, '');
}

function paidCall(version: 1 | 2, { idempotencyKey, isQuoted = false }: PaidCall = {}): Scenario {
  return async (site, arm) => {
    const [agent] = site.agents;
    const { key } = await site.newAccount();
    const wallet = await site.newWallet(PRICE_MICRO);
    const path = isQuoted ? await quotePath(site, key, agent.id) : `/invoke/${agent.id}`;
    const keyed: Record<string, string> = idempotencyKey ? { 'idempotency-key': idempotencyKey } : {};
    const call = { key, body: { task: 'survive' }, headers: keyed };
    const unpaid = await site.request('POST', path, call);
    const payment = await (version === 1 ? payV1 : payV2)(site, wallet, unpaid);
    const earnedBefore = await earned(site);
    await arm();

    const insisted = await site.insist('POST', path, { ...call, headers: { ...keyed, ...payment } });
    const record = await recordOf(site, key, insisted);
    expect(record).toMatchObject({ status: 'completed', result: { echo: 'survive' }, cost: PRICE });
    const again = await site.insist('POST', path, { ...call, headers: { ...keyed, ...payment } });
    expect(again.answer.body.data.requestId).toBe(record.requestId);
    expect(keysAt(site)).toEqual(new Set([record.requestId]));
    expect(await movements(site, wallet)).toEqual({ paid: [PRICE_MICRO], gotBack: [] });
    expect((await earned(site)) - earnedBefore).toBe(PRICE_MICRO);
  };
}

/** The place is armed when the agent has been called: what comes then is the refund's. */
const refundedCall: Scenario = async (site, arm) => {
  const [agent] = site.agents;
  const { key } = await site.newAccount();
  const wallet = await site.newWallet(PRICE_MICRO);
  const path = `/invoke/${agent.id}`;
  const call = { key, body: { task: 'fail' } };
  const headers = await payV2(site, wallet, await site.request('POST', path, call));
  const armed = Promise.withResolvers<void>();
  agent.behave(async (request, response) => {
    if (agent.calls.length === 1) arm().then(armed.resolve, armed.reject);
    await armed.promise;
    answerWith(500, { error: { message: 'no' } })(request, response);
  });
  const insisted = await site.insist('POST', path, { ...call, headers });
  const record = await recordOf(site, key, insisted);
  expect(record).toMatchObject({ status: 'failed', refund: PRICE, cost: '0.00' });
  expect(keysAt(site)).toEqual(new Set([record.requestId]));
  expect(await movements(site, wallet)).toEqual({ paid: [PRICE_MICRO], gotBack: [PRICE_MICRO] });
};

/** Cancelled by its caller while the agent works on it. */
const cancelledCall: Scenario = async (site, arm) => {
  const [agent] = site.agents;
  const { key } = await site.newAccount();
  const wallet = await site.newWallet(PRICE_MICRO);
  const path = `/invoke/${agent.id}`;
  const call = { key, body: { task: 'wait' } };
  const headers = await payV2(site, wallet, await site.request('POST', path, call));
  const called = Promise.withResolvers<string>();
  agent.behave(({ body }) => called.resolve(body.request_id));
  const paid = site.insist('POST', path, { ...call, headers });
  const requestId = await called.promise;
  await arm();
  const { answer } = await site.insist('POST', `/invoke/${requestId}/cancel`, { key });
  // A repetition finds that it was cancelled before.
  expect([200, 409]).toContain(answer.status);
  expect(await recordOf(site, key, await paid)).toMatchObject({ status: 'cancelled', refund: PRICE });
  expect(keysAt(site)).toEqual(new Set([requestId]));
  expect(await movements(site, wallet)).toEqual({ paid: [PRICE_MICRO], gotBack: [PRICE_MICRO] });
};

const treasuryCall: Scenario = async (site, arm) => {
  const [agent] = site.agents;
  const { key } = await newClient(site, '0.12');
  const call = { key, body: { task: 'survive' }, headers: { 'idempotency-key': 'once', 'x-sync': 'true' } };
  await arm();
  const insisted = await site.insist('POST', `/invoke/${agent.id}`, call);
  const record = await recordOf(site, key, insisted);
  expect(record).toMatchObject({ status: 'completed', result: { echo: 'survive' }, cost: PRICE });
  const again = await site.insist('POST', `/invoke/${agent.id}`, call);
  expect(again.answer.body).toEqual(insisted.answer.body);
  expect(keysAt(site)).toEqual(new Set([record.requestId]));
  expect(await balanceOf(site, key)).toEqual({ available: '0.07', held: '0.00' });
};

/** The agent says what it used, as often as it is asked. Meanwhile the maximum is held. */
const usageCall: Scenario = async (site, arm) => {
  const [agent] = site.agents;
  const priceBy = (perUsage: object | null) =>
    site.insist('PUT', `/agents/${agent.id}`, { key: site.owner.key, body: { metadata: { perUsage } } });
  await priceBy({ prices: [{ unit: 'page', price: '0.01' }], maximum: '0.10' });
  agent.behave(answerWith(200, { result: 'read', usage: { units: [{ unit: 'page', quantity: '7' }] } }));
  const { key } = await newClient(site, '0.12');
  const call = {
    key,
    body: { task: 'survive', maxCost: '0.10' },
    headers: { 'idempotency-key': 'once', 'x-sync': 'true' },
  };
  const earnedBefore = await earned(site);
  await arm();
  const insisted = await site.insist('POST', `/invoke/${agent.id}`, call);
  const record = await recordOf(site, key, insisted);
  expect(record).toMatchObject({ status: 'completed', cost: '0.07', refund: '0.03', usage: { rated: '0.07' } });
  expect(keysAt(site)).toEqual(new Set([record.requestId]));
  expect(await balanceOf(site, key)).toEqual({ available: '0.05', held: '0.00' });
  expect((await earned(site)) - earnedBefore).toBe(70_000n);
  await priceBy(null);
};

/** The file of a result is there with the result, once, and nothing else of it stays. */
const fileCall: Scenario = async (site, arm) => {
  const [agent] = site.agents;
  const bytes = Buffer.alloc(300_000, 'a file');
  agent.behave(answerWith(200, { result: { file: `data:image/png;base64,${bytes.toString('base64')}` } }));
  const { key } = await newClient(site, '0.12');
  const call = { key, body: { task: 'survive' }, headers: { 'idempotency-key': 'once', 'x-sync': 'true' } };
  await arm();
  const record = await recordOf(site, key, await site.insist('POST', `/invoke/${agent.id}`, call));
  const $file = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  expect(record).toMatchObject({ status: 'completed', result: { file: { $file, size: 300_000 } }, cost: PRICE });
  const listed = (await site.insist('GET', '/files', { key })).answer.body.data;
  expect(listed.files.map(({ fileId }: { fileId: string }) => fileId)).toEqual([$file]);
  const content = await fetch(`${await site.node.baseUrl()}/files/${$file}/content?request=${record.requestId}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  expect(Buffer.from(await content.arrayBuffer()).equals(bytes)).toBe(true);
};

const bulkCall: Scenario = async (site, arm) => {
  const { key } = await newClient(site, '0.22');
  const agents = site.agents.map(({ id }) => id);
  const call = { key, body: { task: 'survive', agents }, headers: { 'idempotency-key': 'once' } };
  await arm();
  const { bulkId } = (await site.insist('POST', '/invoke/bulk', call)).answer.body.data;
  await expectPeace(site);
  // The process may die at this moment: what it committed last is its peace.
  const { data } = (await site.insist('GET', `/invoke/bulk/${bulkId}`, { key })).answer.body;
  expect(data.status).toBe('completed');
  expect(keysAt(site).size).toBe(2);
  expect(await balanceOf(site, key)).toEqual({ available: '0.12', held: '0.00' });
};

const depositInto: Scenario = async (site, arm) => {
  const { key } = await site.newAccount();
  await site.request('POST', '/payments/treasury', { key, body: {} });
  const wallet = await site.newWallet(PRICE_MICRO);
  const path = '/payments/treasury/deposit';
  const call = { key, body: { amount: PRICE } };
  const headers = await payV2(site, wallet, await site.request('POST', path, call));
  await arm();
  const insisted = await site.insist('POST', path, { ...call, headers });
  expect(insisted.answer.body).toMatchObject({ data: { amount: PRICE, balance: PRICE } });
  await expectPeace(site);
  expect(await movements(site, wallet)).toEqual({ paid: [PRICE_MICRO], gotBack: [] });
  expect(await balanceOf(site, key)).toEqual({ available: PRICE, held: '0.00' });
};

const testFunds: Scenario = async (site, arm) => {
  const { key } = await site.newAccount();
  const call = { key, headers: { 'idempotency-key': 'once' } };
  await arm();
  const { answer } = await site.insist('POST', '/payments/test-funds', call);
  expect(answer.body).toMatchObject({ data: { amount: '10.00', balance: '10.00' } });
  await expectPeace(site);
  expect(await balanceOf(site, key)).toEqual({ available: '10.00', held: '0.00' });
};

const withdrawal: Scenario = async (site, arm) => {
  const { key } = await newClient(site, '0.12');
  const wallet = await site.newWallet(0n);
  const call = { key, body: { amount: PRICE, to: wallet.address }, headers: { 'idempotency-key': 'once' } };
  await arm();
  const { answer } = await site.insist('POST', '/payments/withdraw', call);
  const path = `/payments/withdrawals/${answer.body.data.withdrawalId}`;
  await expectPeace(site);
  expect((await site.request('GET', path, { key })).body.data).toMatchObject({ status: 'confirmed', amount: PRICE });
  expect(await movements(site, wallet)).toEqual({ paid: [], gotBack: [PRICE_MICRO] });
  expect(await balanceOf(site, key)).toEqual({ available: formatUsdc(120_000n - PRICE_MICRO), held: '0.00' });
};

const collection: Scenario = async (site, arm) => {
  const [agent] = site.agents;
  const { key } = await newClient(site, '0.12');
  const paid = await site.insist('POST', `/invoke/${agent.id}`, {
    key,
    body: { task: 'survive' },
    headers: { 'idempotency-key': 'once' },
  });
  await recordOf(site, key, paid);
  const before = await earned(site);
  await arm();
  const call = {
    key: site.owner.key,
    body: { agentId: agent.id },
    headers: { 'idempotency-key': crypto.randomUUID() },
  };
  const { answer } = await site.insist('POST', '/payments/collect', call);
  expect(parseUsdc(answer.body.data.amount)).toBeGreaterThanOrEqual(PRICE_MICRO);
  expect((await site.insist('POST', '/payments/collect', call)).answer.body.data).toEqual(answer.body.data);
  await expectPeace(site);
  expect(await earned(site)).toBe(before);
};

export const scenarios = {
  'an x402 call': paidCall(2),
  'an x402 call of version 1': paidCall(1),
  'an x402 call under an Idempotency-Key': paidCall(2, { idempotencyKey: 'once' }),
  'an x402 call of a quote': paidCall(2, { isQuoted: true }),
  'a failed x402 call and its refund': refundedCall,
  'a cancelled x402 call and its refund': cancelledCall,
  'a treasury call under an Idempotency-Key': treasuryCall,
  'a call paid by usage': usageCall,
  'a call whose result has a file': fileCall,
  'an x402 call of the agent that the node chose': (site, arm) =>
    chosenPaidCall(site, arm, (key, insisted) => recordOf(site, key, insisted)),
  'a treasury call of the agent that the node chose, under an Idempotency-Key': (site, arm) =>
    chosenTreasuryCall(site, arm, (key, insisted) => recordOf(site, key, insisted)),
  'calls of a payment channel, and its deposit': (site, arm) =>
    channelCalls(site, arm, (key, insisted) => recordOf(site, key, insisted)),
  'a call paid by a voucher': (site, arm) => voucherCall(site, arm, (key, insisted) => recordOf(site, key, insisted)),
  'a failed call paid by a voucher': (site, arm) =>
    failedVoucherCall(site, arm, (key, insisted) => recordOf(site, key, insisted)),
  'a call paid by a voucher whose payer withdraws': (site, arm) =>
    withdrawnCall(site, arm, (key, insisted) => recordOf(site, key, insisted)),
  'a bulk request under an Idempotency-Key': bulkCall,
  'a deposit': depositInto,
  'test money under an Idempotency-Key': testFunds,
  'a withdrawal under an Idempotency-Key': withdrawal,
  'collected earnings under an Idempotency-Key': collection,
  'a call of an agent that bills directly': (site, arm) => billedCall(site, arm, () => expectPeace(site)),
  'a failed call of an agent that does not collect': (site, arm) => uncollectedCall(site, arm, () => expectPeace(site)),
  'a call of an agent that asks back': (site, arm) =>
    askingCall(site, arm, (key, insisted) => recordOf(site, key, insisted)),
  'a call of an A2A agent that asks back': (site, arm) =>
    askingTaskCall(site, arm, (key, insisted) => recordOf(site, key, insisted)),
  'a call of an OpenAI endpoint': (site, arm) => sentOnceCall(site, arm, () => expectPeace(site)),
  'a plain transfer and the claim of its wallet': (site, arm) => plainTransfer(site, arm, () => expectPeace(site)),
  'an authorization that nobody shows': (site, arm) => unshownPayment(site, arm, () => expectPeace(site)),
} satisfies Record<string, Scenario>;

export type ScenarioName = keyof typeof scenarios;

/** Resets agents to the state before a scenario: they echo, and have no calls. */
export function resetAgents({ agents }: CrashSite): void {
  for (const agent of agents) {
    agent.behave(echo);
    agent.calls.length = 0;
  }
}
