import { scopes } from '@agent-network/contracts/access/scopes';
import { afterAll, afterEach, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { findById } from '../../../src/payments/chain-outbox/chain-payment-store.ts';
import { reconcilePayments } from '../../../src/payments/reconcile/reconcile.ts';
import { contradictions } from '../../support/books.ts';
import { type Answer, type Harness, startHarness } from '../../support/harness.ts';
import { administer } from '../../support/held-payout.ts';
import { startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { balanceOf, newClient } from '../../support/treasury.ts';
import { until } from '../../support/until.ts';
import { payV2 } from '../../support/x402-payer.ts';

const DEPOSIT = '/payments/treasury/deposit';
const BLACKLISTED = 'Blacklistable: account is blacklisted';
const withoutOperator = scopes.filter((scope) => scope !== 'operator');

let h: Harness;
let agent: TestAgent;
let failing: TestAgent;
/** Done while the failing agent works. */
let meanwhile: () => Promise<void> = async () => undefined;

beforeAll(async () => {
  h = await startHarness();
  const owner = await h.newAccount();
  agent = await startTestAgent(h, { owner, perRequest: '0.05' });
  failing = await startTestAgent(h, {
    owner,
    perRequest: '0.05',
    behaviour: async (_request, response) => {
      await meanwhile();
      response.writeHead(500).end();
    },
  });
});
afterEach(async () => {
  meanwhile = async () => undefined;
  await administer(h, 'unpause');
  await administer(h, 'unBlacklist', h.ctx.wallet.address);
  await h.ctx.settlementHalt.refresh();
  expect(await contradictions(h.databaseUrl)).toEqual([]);
});
afterAll(async () => {
  await Promise.all([agent.die(), failing.die()]);
  await h.stop();
});

const call = (path: string, key?: string, headers = {}) =>
  h.request('POST', path, { key, body: { task: 'hello' }, headers: { 'x-sync': 'true', ...headers } });

const expectHalted = (answer: Answer, reason: string) =>
  expect(answer).toMatchObject({
    status: 503,
    body: { error: { code: 'UNAVAILABLE', details: { state: 'cannot_settle', outcome: 'nothing', reason } } },
  });

const halts = [
  ['token is paused', () => administer(h, 'pause'), () => administer(h, 'unpause'), 'Pausable: paused'],
  [
    "node's wallet is blacklisted",
    () => administer(h, 'blacklist', h.ctx.wallet.address),
    () => administer(h, 'unBlacklist', h.ctx.wallet.address),
    BLACKLISTED,
  ],
] as const;

it.each(halts)(
  'while the %s, a signed payment is 503, is not taken, and pays once that is over',
  async (_what, start, end, reason) => {
    const { key } = await h.newAccount();
    await h.request('POST', '/payments/treasury', { key, body: {} });
    const wallet = await h.newWallet(10_000_000n);
    const paths = [DEPOSIT, `/invoke/${agent.id}`] as const;
    const body = { amount: '1' };
    const ofDeposit = await payV2(h, wallet, await h.request('POST', DEPOSIT, { key, body }));
    const { key: caller } = await h.newAccount();
    const ofCall = await payV2(h, wallet, await call(paths[1], caller));
    await start();
    expectHalted(await h.request('POST', DEPOSIT, { key, body, headers: ofDeposit }), reason);
    expectHalted(await call(paths[1], caller, ofCall), reason);
    // Nobody is asked to sign either.
    expectHalted(await h.request('POST', DEPOSIT, { key, body }), reason);
    expectHalted(await call(paths[1], caller), reason);
    expect(await h.usdcOf(wallet.address)).toBe(10_000_000n);
    await end();
    const paid = async () => {
      const answer = await h.request('POST', DEPOSIT, { key, body, headers: ofDeposit });
      return answer.status === 503 ? null : answer;
    };
    expect((await until(paid)).status).toBe(200);
    expect(await call(paths[1], caller, ofCall)).toMatchObject({
      status: 200,
      body: { data: { status: 'completed' } },
    });
  },
);

it.each(halts)(
  'a payment that was refused while the %s is 503, also when that is over as soon as the node asks why',
  async (_what, start, end) => {
    const { key } = await h.newAccount();
    await h.request('POST', '/payments/treasury', { key, body: {} });
    const wallet = await h.newWallet(1_000_000n);
    const body = { amount: '1' };
    const headers = await payV2(h, wallet, await h.request('POST', DEPOSIT, { key, body }));
    const { causeOf } = h.ctx.settlementHalt;
    const asked = vi.spyOn(h.ctx.settlementHalt, 'causeOf').mockImplementationOnce(async (...refused) => {
      await end();
      return causeOf(...refused);
    });
    onTestFinished(() => asked.mockRestore());
    await start();
    const refused = await h.request('POST', DEPOSIT, { key, body, headers });
    expect(refused).toMatchObject({ status: 503, body: { error: { details: { state: 'cannot_settle' } } } });
    expect(asked).toHaveBeenCalledOnce();
    expect((await h.request('POST', DEPOSIT, { key, body, headers })).status).toBe(200);
  },
);

it.each(halts)(
  'while the %s, a withdrawal is 503, nothing is held, and the operator sees why',
  async (_what, start, _end, reason) => {
    const { key } = await newClient(h, '2');
    await start();
    expectHalted(await h.request('POST', '/payments/withdraw', { key, body: { amount: '1' } }), reason);
    expect(await balanceOf(h, key)).toEqual({ available: '2.00', held: '0.00' });
    const status = await h.request('GET', '/operator/status', { key });
    expect(status.body.data.settlements).toMatchObject({ halted: reason });
    expect((await h.ctx.metrics.settlementHalted.get()).values[0]?.value).toBe(1);
  },
);

it('a payer that is blacklisted gets a 402: that is about the payer', async () => {
  const { key } = await h.newAccount();
  const wallet = await h.newWallet(10_000_000n);
  const headers = await payV2(h, wallet, await call(`/invoke/${agent.id}`, key));
  await administer(h, 'blacklist', wallet.address);
  expect(await call(`/invoke/${agent.id}`, key, headers)).toMatchObject({
    status: 402,
    body: { error: { details: { reason: 'invalid_exact_evm_transaction_simulation_failed' } } },
  });
  expect((await call(`/invoke/${agent.id}`, key)).status).toBe(402);
});

it('a payment that the token refuses while it is mined, because it is paused, does not fail, is no strike, and settles later', async () => {
  const { key } = await h.newAccount();
  await h.request('POST', '/payments/treasury', { key, body: {} });
  const wallet = await h.newWallet(10_000_000n);
  const body = { amount: '1' };
  const headers = await payV2(h, wallet, await h.request('POST', DEPOSIT, { key, body }));
  const { simulate } = h.ctx.simulator;
  let isPaused = false;
  h.ctx.simulator.simulate = async (payment) => {
    const answer = await simulate(payment);
    if (payment.authorization.from === wallet.address.toLowerCase() && !isPaused) {
      isPaused = true;
      await administer(h, 'pause');
    }
    return answer;
  };
  const first = h.request('POST', DEPOSIT, { key, body, headers });
  await until(async () => ((await h.ctx.metrics.settlementHalted.get()).values[0]?.value === 1 ? true : null));
  h.ctx.simulator.simulate = simulate;
  await administer(h, 'unpause');
  await h.ctx.settlementHalt.refresh();
  const paid = await until(async () => {
    await reconcilePayments(h.ctx, 0);
    const answer = await h.request('POST', DEPOSIT, { key, body, headers });
    return answer.status === 200 ? answer : null;
  });
  expect(paid.body.data.amount).toBe('1.00');
  expect([200, 503]).toContain((await first).status);
  const strikes = await h.ctx.db.query('count-strikes', 'select 1 from payer_strike where subject like $1', [
    `%${wallet.address.toLowerCase()}%`,
  ]);
  expect(strikes).toEqual([]);
});

/** A refund to a wallet that the token blacklists while the call runs; returns the wallet, and the payout as it is held. */
async function heldRefund(key: string) {
  const wallet = await h.newWallet(10_000_000n);
  const headers = await payV2(h, wallet, await call(`/invoke/${failing.id}`, key));
  meanwhile = () => administer(h, 'blacklist', wallet.address);
  const answer = await call(`/invoke/${failing.id}`, key, headers);
  expect(answer.body.data.status).toBe('failed');
  const held = await until(async () => {
    const { payouts } = (await h.request('GET', '/payments/held', { key })).body.data;
    return payouts.find(({ to }: { to: string }) => to === wallet.address.toLowerCase()) ?? null;
  });
  return { wallet, held, requestId: answer.body.data.requestId as string };
}

it('a refund to a blacklisted wallet is held with its reason, and blocks no other refund', async () => {
  const { key } = await h.newAccount({ scopes: withoutOperator });
  const { wallet, held, requestId } = await heldRefund(key);
  expect(held).toMatchObject({
    ...{ type: 'refund', amount: '0.05', requestId, reason: BLACKLISTED, creditableFrom: null, withdrawalId: null },
  });
  const other = await h.newWallet(1_000_000n);
  await call(`/invoke/${failing.id}`, key, await payV2(h, other, await call(`/invoke/${failing.id}`, key)));
  await until(async () => (await h.usdcOf(other.address)) === 1_000_000n);
  await reconcilePayments(h.ctx, 0);
  expect(await h.usdcOf(wallet.address)).toBe(9_950_000n);
  const events = (await h.request('GET', '/events', { key })).body.data;
  expect(JSON.stringify(events)).toContain('payment.held');
});

it('a held refund is sent once the token accepts it', async () => {
  const { key } = await h.newAccount({ scopes: withoutOperator });
  const { wallet } = await heldRefund(key);
  await administer(h, 'unBlacklist', wallet.address);
  await until(async () => {
    await h.ctx.db.query('end-pause', 'update held_payout set next_try_at = held_at', []);
    await reconcilePayments(h.ctx, 0);
    return (await h.usdcOf(wallet.address)) === 10_000_000n;
  });
  const held = async () => (await h.request('GET', '/payments/held', { key })).body.data.payouts;
  await until(async () => (await held()).length === 0);
});

it('a held refund is credited once, only by the owner who proved its wallet, or by an operator to that wallet', async () => {
  const payer = await h.newAccount({ scopes: withoutOperator });
  const stranger = await h.newAccount({ scopes: withoutOperator });
  const operator = await h.newAccount();
  const { wallet, held } = await heldRefund(payer.key);
  const credit = (key: string) => h.request('POST', `/payments/held/${held.paymentId}/credit`, { key, body: {} });
  expect((await credit(stranger.key)).status).toBe(404);
  expect(await credit(payer.key)).toMatchObject({ status: 409, body: { error: { code: 'CONFLICT' } } });
  const answers = await Promise.all([credit(operator.key), credit(operator.key), credit(operator.key)]);
  // One that comes once it is credited is told the same again; one that comes meanwhile is told to read it again.
  const told = answers.map(({ status, body }) => (status === 200 ? body.data : body.error.code));
  const credited = { paymentId: held.paymentId, amount: '0.05', treasuryId: null, transactionHash: null };
  expect(told).toContainEqual(credited);
  for (const each of told) expect([credited, 'CONFLICT']).toContainEqual(each);
  await administer(h, 'unBlacklist', wallet.address);
  await reconcilePayments(h.ctx, 0);
  expect(await h.usdcOf(wallet.address)).toBe(9_950_000n);
  const [suspense] = await h.ctx.db.query<{ micro: bigint }>(
    'read-suspense',
    'select posted_micro as micro from ledger_account where id = $1',
    [`suspense:${wallet.address.toLowerCase()}`],
  );
  expect(suspense?.micro).toBe(50_000n);
});

/** A withdrawal that the token refuses from its commit on. */
async function heldWithdrawal(key: string) {
  const to = (await h.newWallet(0n)).address.toLowerCase();
  const { simulate } = h.ctx.simulator;
  let passes = 0;
  h.ctx.simulator.simulate = async (payment) => {
    if (payment.authorization.to !== to) return simulate(payment);
    passes += 1;
    if (passes === 2) await administer(h, 'blacklist', to);
    return simulate(payment);
  };
  const { withdrawalId } = (await h.request('POST', '/payments/withdraw', { key, body: { amount: '1', to } })).body
    .data;
  const held = await until(async () => {
    const { data } = (await h.request('GET', `/payments/withdrawals/${withdrawalId}`, { key })).body;
    return data.held ? data : null;
  });
  h.ctx.simulator.simulate = simulate;
  return { to, held };
}

it('a withdrawal to an address that is blacklisted meanwhile is held, credited back by its owner, and withdrawn elsewhere', async () => {
  const { key } = await newClient(h, '2');
  const { to, held } = await heldWithdrawal(key);
  expect(held).toMatchObject({ status: 'pending', held: { reason: BLACKLISTED } });
  const credited = await h.request('POST', `/payments/held/${held.held.paymentId}/credit`, { key, body: {} });
  expect(credited).toMatchObject({ status: 200, body: { data: { amount: '1.00', treasuryId: held.treasuryId } } });
  await administer(h, 'unBlacklist', to);
  await reconcilePayments(h.ctx, 0);
  expect(await h.usdcOf(to)).toBe(0n);
  expect(await balanceOf(h, key)).toEqual({ available: '2.00', held: '0.00' });
  const other = (await h.newWallet(0n)).address;
  await h.request('POST', '/payments/withdraw', { key, body: { amount: '2', to: other } });
  await until(async () => (await h.usdcOf(other)) === 2_000_000n);
});

it('a payout that has ended is not sent by a settlement that began before', async () => {
  const { key } = await newClient(h, '2');
  const { to, held } = await heldWithdrawal(key);
  const stale = await findById(h.ctx.db, held.held.paymentId);
  await administer(h, 'unBlacklist', to);
  await h.request('POST', `/payments/held/${held.held.paymentId}/credit`, { key, body: {} });
  if (!stale) throw new Error('no payment');
  expect((await h.ctx.settler.settle(stale)).state).toBe('unknown');
  expect(await h.usdcOf(to)).toBe(0n);
});
