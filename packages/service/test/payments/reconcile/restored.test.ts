import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../../src/compose/local/free-port.ts';
import { decidePayout } from '../../../src/payments/payouts/decide-payout.ts';
import { listFoundPayouts } from '../../../src/payments/payouts/found-payout-store.ts';
import { readWallet } from '../../../src/payments/reconcile/read-payouts.ts';
import { needsOperator, reportRestore, reportText } from '../../../src/payments/reconcile/report-restore.ts';
import { askDatabase, contradictions, walletByBooks } from '../../support/books.ts';
import type { TestWallet } from '../../support/harness.ts';
import { createRestorableNode, type RestorableNode } from '../../support/restorable-node.ts';
import { answerWith, echo, startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts';
import { balanceOf, type Client, deposit, newClient, untilEnded } from '../../support/treasury.ts';
import { until } from '../../support/until.ts';
import { requiredBy } from '../../support/voucher-payer.ts';
import { payV2 } from '../../support/x402-payer.ts';

/**
 * One story: accounts, a backup, and then payments, refunds, withdrawals and deposits that the backup lacks. The tests look at a node that
 * was started on the backup, with the same keys and the same chain.
 */
let node: RestorableNode;
let agent: TestAgent;
let lost: TestDatabase;
let restored: TestDatabase;
let [saver, spender, caller]: Client[] = [];
let paying: TestWallet;
let refunded: TestWallet;
const openRequest = { key: '', id: '', wallet: '' };
const seen = {
  calls: 0,
  wallet: 0n,
  withdrawalId: '',
  paid: {} as Record<string, string>,
  refunded: {} as Record<string, string>,
};

const known = (client: Client | undefined): Client => client as Client;
const withdraw = (client: Client | undefined, amount: string, more: { to?: string; idempotencyKey?: string } = {}) =>
  node.request('POST', '/payments/withdraw', {
    key: known(client).key,
    body: { amount, ...(more.to ? { to: more.to } : {}) },
    headers: more.idempotencyKey ? { 'idempotency-key': more.idempotencyKey } : {},
  });
const invoke = (key: string, headers: Record<string, string> = {}, mode = 'sync') =>
  node.request('POST', `/invoke/${agent.id}`, {
    key,
    body: { task: 'x', ...(mode === 'async' ? { async: true } : {}) },
    headers: { 'x-payment-method': 'x402', ...headers },
  });
/** Pays for a call as a client does, from this wallet; answers the headers of the payment as well. */
async function pay(key: string, wallet: TestWallet) {
  const unpaid = await invoke(key);
  const { nonce } = requiredBy(unpaid).accepts[0].extra;
  const headers = await payV2(node, wallet, unpaid, { nonce });
  return { headers, answer: await invoke(key, headers) };
}
const settled = (client: Client | undefined, id: string) =>
  until(async () => {
    const { body } = await node.request('GET', `/payments/withdrawals/${id}`, { key: known(client).key });
    return body.data.status === 'confirmed';
  });
const found = () => listFoundPayouts(node.ctx.db, null, null);

beforeAll(async () => {
  node = await createRestorableNode(await freePort(0));
  lost = await createTestDatabase();
  await node.startOn(lost.url);
  agent = await startTestAgent(node, { perRequest: '0.05' });
  [saver, spender, caller] = await Promise.all([
    newClient(node, '5.00'),
    newClient(node, '2.00'),
    newClient(node, '1.00'),
  ]);
  await leaveRequestOpen();
  await node.stopNode();
  restored = await createTestDatabase(lost);
  agent.behave(answerWith(400, { error: 'I can not do that' }));
  await node.startOn(lost.url);
  await liveOn();
  await node.stopNode();
  seen.calls = agent.calls.length;
  await node.startOn(restored.url);
});
afterAll(async () => {
  await agent?.die();
  await node?.stop();
  await Promise.all([lost?.drop(), restored?.drop()]);
});

/** A request that was paid for and whose agent has not answered when the backup is made. */
async function leaveRequestOpen(): Promise<void> {
  const wallet = await node.newWallet();
  openRequest.key = known(caller).key;
  openRequest.wallet = wallet.address;
  agent.behave(() => undefined);
  const headers = await payV2(node, wallet, await invoke(openRequest.key));
  const before = agent.calls.length;
  void invoke(openRequest.key, headers).catch(() => undefined);
  await until(async () => agent.calls.length > before);
  const [row] = await askDatabase<{ id: string }>(lost.url, 'select id from invocation where completed_at is null');
  openRequest.id = row?.id ?? '';
}

/** What the backup lacks. */
async function liveOn(): Promise<void> {
  expect((await untilEnded(node, openRequest.key, openRequest.id)).status).toBe('failed');
  [paying, refunded] = await Promise.all([node.newWallet(), node.newWallet()]);
  const failed = await pay(known(caller).key, refunded);
  seen.refunded = failed.headers;
  agent.behave(echo);
  const called = await pay(known(caller).key, paying);
  expect(called.answer.status).toBe(200);
  seen.paid = called.headers;
  const { body } = await withdraw(saver, '3.00', { idempotencyKey: 'the-withdrawal' });
  seen.withdrawalId = body.data.withdrawalId;
  const other = await node.newWallet(0n);
  const all = await withdraw(spender, '2.00', { to: other.address });
  await deposit(node, known(saver).key, known(saver).treasuryId, '1.00');
  const late = await newClient(node, '1.00');
  const ofLate = await withdraw(late, '0.40');
  await settled(saver, seen.withdrawalId);
  await settled(spender, all.body.data.withdrawalId);
  await settled(late, ofLate.body.data.withdrawalId);
  for (const wallet of [openRequest.wallet, refunded.address])
    await until(async () => (await node.usdcOf(wallet)) === 1_000_000_000n);
  expect(await walletByBooks(lost.url)).toBe(await node.usdcOf(node.walletAddress));
  seen.wallet = await node.usdcOf(node.walletAddress);
}

const books = async () => {
  expect(await contradictions(restored.url)).toEqual([]);
  const { status, difference, loss } = (await node.request('GET', '/payments/reserves')).body.data;
  return { status, difference, loss };
};
const payoutsTo = async (address: string) =>
  (await found())
    .filter(({ to }) => to === address.toLowerCase())
    .map(({ state, source, valueMicro }) => ({ state, source, valueMicro }));

describe('a node on a database that was restored to a time before payments, refunds and withdrawals', () => {
  it('has charged each withdrawal to its treasury before anybody is let in', async () => {
    expect(await balanceOf(node, known(saver).key)).toMatchObject({ available: '2.00' });
    expect(await balanceOf(node, known(spender).key)).toMatchObject({ available: '0.00' });
    expect(await payoutsTo(known(saver).address)).toEqual([
      { state: 'booked', source: known(saver).treasuryId, valueMicro: 3_000_000n },
    ]);
  });

  it('ends a request that was refunded on chain without calling its agent, and sends no second refund', async () => {
    const record = await untilEnded(node, openRequest.key, openRequest.id);
    expect(record).toMatchObject({ status: 'failed', error: { code: 'node_restored' }, refund: '0.05' });
    // How it had ended is lost: nothing is held against the agent.
    expect((await node.request('GET', `/agents/${agent.id}`)).body.data.totalRequests).toBe(0);
    const payments = await askDatabase<{ state: string }>(
      restored.url,
      "select state from chain_payment where subject_id = $1 and purpose = 'refund'",
      [openRequest.id],
    );
    expect(payments).toEqual([{ state: 'settled' }]);
    expect(await node.usdcOf(openRequest.wallet)).toBe(1_000_000_000n);
    expect(agent.calls).toHaveLength(seen.calls);
  });

  it('books a payment and its refund against each other, so that the payment pays for nothing more', async () => {
    expect(await payoutsTo(refunded.address)).toMatchObject([
      { state: 'booked', source: `suspense:${refunded.address.toLowerCase()}`, valueMicro: 50_000n },
    ]);
    const again = await invoke(known(caller).key, seen.refunded);
    expect(again.status).not.toBe(200);
    expect(agent.calls).toHaveLength(seen.calls);
    expect(await node.usdcOf(refunded.address)).toBe(1_000_000_000n);
  });

  it('gives who shows a lost payment again what it was for, and takes nothing more', async () => {
    const again = await invoke(known(caller).key, seen.paid);
    expect(again.status).toBe(200);
    expect(agent.calls).toHaveLength(seen.calls + 1);
    expect(await node.usdcOf(paying.address)).toBe(999_950_000n);
  });

  it('lets nobody withdraw while a payout waits for an operator', async () => {
    const refused = await withdraw(saver, '0.50');
    expect(refused).toMatchObject({ status: 503, body: { error: { code: 'UNAVAILABLE' } } });
    expect(await balanceOf(node, known(saver).key)).toMatchObject({ available: '2.00', held: '0.00' });
  });

  it('answers a withdrawal under the key of a lost one with that one', async () => {
    const again = await withdraw(saver, '3.00', { idempotencyKey: 'the-withdrawal' });
    expect(again.status).toBe(200);
    expect(again.body.data).toMatchObject({
      amount: '3.00',
      status: 'confirmed',
      to: known(saver).address.toLowerCase(),
    });
    expect(await node.usdcOf(known(saver).address)).toBe(3_000_000n);
  });

  it('lists for the operator what it has repaired and what is to be decided', async () => {
    const report = await reportRestore({ db: node.ctx.db });
    expect(report.restored).toMatchObject({ isRestored: true });
    expect(report.undecided).toMatchObject([{ valueMicro: 400_000n, source: null }]);
    expect(report.repaired.map(({ valueMicro }) => valueMicro)).toEqual([50_000n, 50_000n, 3_000_000n, 2_000_000n]);
    expect(report.waiting).toMatchObject({ unshownCount: 2, unshownMicro: 2_000_000n });
    const text = reportText(report);
    expect(text).toContain('0.40 USDC to');
    expect(text).toContain(report.undecided[0]?.transactionHash);
  });

  it('goes on once an operator has decided, with books that are what the chain has', async () => {
    const { db, clock } = node.ctx;
    await readWallet({ ...node.ctx, clock: { now: () => new Date(Date.now() + 21 * 60_000) } });
    expect(await books()).toMatchObject({ status: 'drift', difference: '-0.40' });
    const [undecided] = (await reportRestore({ db })).undecided;
    const decided = { id: undecided?.id ?? '', decision: { kind: 'loss' }, by: 'Ada' } as const;
    expect(await decidePayout({ db, clock }, decided)).toMatchObject({
      state: 'decided',
      decidedBy: 'Ada',
      source: 'loss',
    });
    await expect(decidePayout({ db, clock }, decided)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await walletByBooks(restored.url)).toBe(await node.usdcOf(node.walletAddress));
    expect((await withdraw(saver, '0.50')).status).toBe(200);
    expect(needsOperator(await reportRestore({ db }))).toBe(false);
    const isWithdrawn = async () => (await node.usdcOf(known(saver).address)) === 3_500_000n;
    await until(isWithdrawn);
    expect(await contradictions(restored.url)).toEqual([]);
    expect(await node.usdcOf(known(saver).address)).toBe(3_500_000n);
  });
});
