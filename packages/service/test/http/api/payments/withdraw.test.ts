import { randomUUID } from 'node:crypto';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../../src/lib/id.ts';
import { lockLedgerAccount } from '../../../../src/payments/ledger/ledger-store.ts';
import {
  holdForWithdrawal,
  releaseForgottenWithdrawals,
  releaseWithdrawal,
} from '../../../../src/payments/payouts/hold-withdrawal.ts';
import { reconcilePayments } from '../../../../src/payments/reconcile/reconcile.ts';
import { payeeProblem } from '../../../../src/payments/x402/open-addresses.ts';
import type { Tx } from '../../../../src/store/sql.ts';
import { contradictions, walletByBooks } from '../../../support/books.ts';
import { type ProxiedHarness, startProxiedHarness } from '../../../support/proxied-harness.ts';
import { startTestAgent } from '../../../support/test-agent.ts';
import { balanceOf, deposit, newClient, untilUsdc } from '../../../support/treasury.ts';
import { until } from '../../../support/until.ts';
import { expectError } from '../support/expect-error.ts';

/** The release of a hold waits for a lock on its account. */
const WAITING = `select pid from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock' and query ilike '%update hold%'`;

/** A key of the node's that sends, beside its wallet. */
const senderKey = generatePrivateKey();
const sender = privateKeyToAccount(senderKey);
let h: ProxiedHarness;
beforeAll(async () => {
  h = await startProxiedHarness({ env: { SENDER_PRIVATE_KEYS: senderKey } });
});
afterAll(() => h.stop());

const withdraw = (key: string, body: unknown, headers: Record<string, string> = {}) =>
  h.request('POST', '/payments/withdraw', { key, body, headers });
const read = async (key: string, id: string) =>
  (await h.request('GET', `/payments/withdrawals/${id}`, { key })).body.data;
const newAddress = () => privateKeyToAccount(generatePrivateKey()).address.toLowerCase();
const events = async (accountId: string) =>
  (
    await h.ctx.db.pool.query(`select data from event where account_id = $1 and type = 'withdrawal.confirmed'`, [
      accountId,
    ])
  ).rows;

async function untilStatus(key: string, id: string, status: string) {
  const reached = await until(async () => {
    await reconcilePayments(h.ctx, 0);
    const found = await read(key, id);
    return found.status === status ? found : null;
  });
  expect(reached?.status).toBe(status);
  return reached;
}

describe('ten withdrawals of 60 % at once', () => {
  const race = async (before: () => Promise<void>) => {
    const { key } = await newClient(h, '1');
    const to = newAddress();
    await before();
    const answers = await Promise.all(Array.from({ length: 10 }, () => withdraw(key, { amount: '0.6', to })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(422)]);
    for (const answer of answers.filter(({ status }) => status === 422)) expectError(answer, 'INSUFFICIENT_FUNDS');
    expect(await untilUsdc(h, to, 600_000n)).toBe(600_000n);
    expect(await balanceOf(h, key)).toEqual({ available: '0.40', held: '0.00' });
    expect(await contradictions(h.databaseUrl)).toEqual([]);
  };

  it('are one withdrawal and nine refusals by the ledger while the wallet holds no more than the treasury', () =>
    race(async () => expect(await h.usdcOf(h.ctx.chain.wallet)).toBe(1_000_000n)));

  it('are the same while the wallet holds the money of others as well', () =>
    race(async () => void (await newClient(h, '6'))));
});

describe('a withdrawal', () => {
  it("pays the owner's wallet, once, and shows in balance, history, events and books", async () => {
    const { key, accountId, address, treasuryId } = await newClient(h, '5');
    const { status, body } = await withdraw(key, { amount: '1.25' });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ status: 'confirmed', amount: '1.25', to: address, treasuryId });
    expect(await h.usdcOf(address)).toBe(1_250_000n);
    expect(await balanceOf(h, key)).toEqual({ available: '3.75', held: '0.00' });
    expect(await read(key, body.data.withdrawalId)).toEqual(body.data);
    const { payments, total } = (await h.request('GET', '/payments/history', { key })).body.data;
    expect(total).toBe(2);
    const { transactionHash } = body.data;
    expect(payments[0]).toMatchObject({
      type: 'withdrawal',
      amount: '1.25',
      status: 'confirmed',
      requestId: null,
      transactionHash,
    });
    expect(await events(accountId)).toEqual([{ data: body.data }]);
    expect(await contradictions(h.databaseUrl)).toEqual([]);
    expect(await walletByBooks(h.databaseUrl)).toBe(await h.usdcOf(h.ctx.chain.wallet));
  });

  it('goes to another wallet and out of an agent’s treasury when told to', async () => {
    const owner = await h.newAccount();
    const agent = await startTestAgent(h, { owner });
    const treasuryId = `trs_${agent.id.slice(4)}`;
    await deposit(h, owner.key, treasuryId, '2');
    const to = newAddress();
    const { body } = await withdraw(owner.key, { amount: '2', to, treasuryId });
    expect(body.data).toMatchObject({ amount: '2.00', to, treasuryId });
    expect(await untilUsdc(h, to, 2_000_000n)).toBe(2_000_000n);
    expect(
      (await h.request('GET', `/payments/withdrawals/${body.data.withdrawalId}`, { key: agent.identityToken })).status,
    ).toBe(200);
    expectError(await withdraw(agent.identityToken, { amount: '1', treasuryId }), 'FORBIDDEN');
    const refused = await withdraw(owner.key, { amount: '1', treasuryId });
    expectError(refused, 'INSUFFICIENT_BALANCE');
    expect(refused.body.error.details).toEqual({ required: '1.00', available: '0.00' });
    await agent.die();
  });

  it('of more than is available is refused with both figures, and moves nothing', async () => {
    const { key } = await newClient(h, '1');
    const refused = await withdraw(key, { amount: '1.000001' });
    expectError(refused, 'INSUFFICIENT_FUNDS');
    expect(refused.body.error.details).toEqual({ required: '1.000001', available: '1.00' });
    expect(await balanceOf(h, key)).toEqual({ available: '1.00', held: '0.00' });
  });

  it('raced by nine others takes what is there and no more', async () => {
    const { key } = await newClient(h, '1');
    const to = newAddress();
    const answers = await Promise.all(Array.from({ length: 10 }, () => withdraw(key, { amount: '0.3', to })));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(3).fill(200), ...Array(7).fill(422)]);
    expect(await untilUsdc(h, to, 900_000n)).toBe(900_000n);
    expect(await balanceOf(h, key)).toEqual({ available: '0.10', held: '0.00' });
    expect(await contradictions(h.databaseUrl)).toEqual([]);
  });

  it('leaves no trace in history and balance when the simulation fails, and is made when it is repeated under its key', async () => {
    const { key } = await newClient(h, '1');
    const to = newAddress();
    const headers = { 'idempotency-key': randomUUID() };
    h.proxy.rule('eth_call', () => null);
    expectError(await withdraw(key, { amount: '1', to }, headers), 'UNAVAILABLE');
    h.proxy.rule('eth_call', null);
    expect(await balanceOf(h, key)).toEqual({ available: '1.00', held: '0.00' });
    expect((await h.request('GET', '/payments/history', { key })).body.data.total).toBe(1);
    expect((await withdraw(key, { amount: '1', to }, headers)).status).toBe(200);
    expect(await contradictions(h.databaseUrl)).toEqual([]);
  });

  it('frees its money if its process died before signing', async () => {
    const { key, treasuryId } = await newClient(h, '1');
    const before = new Date(Date.now() - 600_000);
    await h.ctx.db.transaction(async (tx) => {
      const treasury = await lockLedgerAccount(tx, treasuryId);
      if (!treasury) throw new Error('no treasury');
      await holdForWithdrawal(tx, { id: newId('wdr'), from: 'treasury', treasury, amountMicro: 700_000n, now: before });
    });
    expect(await balanceOf(h, key)).toEqual({ available: '0.30', held: '0.70' });
    expect(await contradictions(h.databaseUrl)).toEqual([]);
    await releaseForgottenWithdrawals(h.ctx);
    expect(await balanceOf(h, key)).toEqual({ available: '1.00', held: '0.00' });
    expect(await contradictions(h.databaseUrl)).toEqual([]);
  });

  it('repeated under its key just when the hold of its dead process is released keeps the hold that it places', async () => {
    const { key, treasuryId } = await newClient(h, '1');
    const [id, before] = [newId('wdr'), new Date(Date.now() - 600_000)];
    const place = async (tx: Tx, amountMicro: bigint, now: Date) => {
      const treasury = await lockLedgerAccount(tx, treasuryId);
      if (!treasury) throw new Error('no treasury');
      await holdForWithdrawal(tx, { id, from: 'treasury', treasury, amountMicro, now });
    };
    await h.ctx.db.transaction((tx) => place(tx, 700_000n, before));
    const [isLocked, isReleasing] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const repeating = h.ctx.db.transaction(async (tx) => {
      await lockLedgerAccount(tx, treasuryId);
      isLocked.resolve();
      await isReleasing.promise;
      await place(tx, 600_000n, h.ctx.clock.now());
    });
    await isLocked.promise;
    const releasing = releaseForgottenWithdrawals(h.ctx);
    await expect.poll(() => h.ctx.db.query('', WAITING)).toHaveLength(1);
    isReleasing.resolve();
    await repeating;
    await releasing;
    expect(await balanceOf(h, key)).toEqual({ available: '0.40', held: '0.60' });
    expect(await contradictions(h.databaseUrl)).toEqual([]);
    await h.ctx.db.transaction((tx) => releaseWithdrawal(tx, id, h.ctx.clock.now()));
    expect(await balanceOf(h, key)).toEqual({ available: '1.00', held: '0.00' });
  });

  it('sent twice with one Idempotency-Key is one withdrawal', async () => {
    const { key } = await newClient(h, '1');
    const to = newAddress();
    const headers = { 'idempotency-key': randomUUID() };
    const first = await withdraw(key, { amount: '0.4', to }, headers);
    const second = await withdraw(key, { amount: '0.4', to }, headers);
    expect(second.body.data.withdrawalId).toBe(first.body.data.withdrawalId);
    expect(await h.usdcOf(to)).toBe(400_000n);
  });

  it('needs its scope, a treasury of the caller, and is seen by nobody else', async () => {
    const { key, treasuryId, address } = await newClient(h, '1');
    const weak = await h.newAccount({ scopes: ['payments:read', 'payments:write'] });
    const other = await h.newAccount();
    expectError(await withdraw(weak.key, { amount: '1' }), 'FORBIDDEN');
    expectError(await withdraw(other.key, { amount: '1' }), 'NOT_FOUND');
    expectError(await withdraw(other.key, { amount: '1', treasuryId }), 'NOT_FOUND');
    expectError(await withdraw(other.key, { amount: '1', treasuryId: `payer:${address}` }), 'NOT_FOUND');
    expectError(await withdraw(other.key, { amount: '1', treasuryId: 'wallet' }), 'NOT_FOUND');
    const { withdrawalId } = (await withdraw(key, { amount: '0.1' })).body.data;
    const path = `/payments/withdrawals/${withdrawalId}`;
    expectError(await h.request('GET', path, { key: other.key }), 'NOT_FOUND');
    expectError(await h.request('GET', '/payments/withdrawals/wdr_nothing', { key }), 'NOT_FOUND');
  });

  it.each([
    [{ amount: '0' }, 'amount'],
    [{ amount: '-1' }, 'amount'],
    [{ amount: '1e3' }, 'amount'],
    [{ amount: '0.0000001' }, 'amount'],
    [{ amount: 0.1 + 0.2 }, 'amount'],
    [{ amount: true }, 'amount'],
    [{}, 'amount'],
    [{ amount: '1', to: 'me' }, 'to'],
    [{ amount: '1', to: `0x${'0'.repeat(40)}` }, 'to'],
    [{ amount: '1', treasuryId: 'a b' }, 'treasuryId'],
  ])('refuses %j', async (body, field) => {
    const { key } = await h.newAccount();
    expectError(await withdraw(key, body), 'VALIDATION_ERROR', field);
  });

  it('to the token, the node itself, a key that sends for it, an address from which anyone takes or a mistyped one is refused', async () => {
    const { key } = await newClient(h, '1');
    const address = privateKeyToAccount(generatePrivateKey()).address;
    const flip = (letter: string) => (letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase());
    const mistyped = address.replace(/[a-fA-F](?=[^a-fA-F]*$)/, flip);
    const { token, wallet } = h.ctx.chain;
    for (const to of [token, wallet, sender.address, `0x${token.slice(2).toUpperCase()}`, mistyped])
      expectError(await withdraw(key, { amount: '1', to }), 'VALIDATION_ERROR', 'to');
    const multicall3 = '0xcA11bde05977b3631167028862bE2a173976CA11';
    for (const to of [
      multicall3,
      multicall3.toLowerCase(),
      '0x4020806089470a89826cB9fB1f4059150b550004',
      `0x${'1'.padStart(40, '0')}`,
    ]) {
      const refused = await withdraw(key, { amount: '1', to });
      expectError(refused, 'VALIDATION_ERROR', 'to');
      expect(refused.body.error.message).toMatch(/anyone could take|x402|low address/);
    }
    expect(await balanceOf(h, key)).toEqual({ available: '1.00', held: '0.00' });
    expect(payeeProblem(h.ctx, address)).toBeNull();
    expect(payeeProblem(h.ctx, address.toLowerCase())).toBeNull();
  });
});

describe('when the chain gives trouble, a withdrawal', () => {
  it('sent without an answer of the RPC node is pending, and paid once', async () => {
    const { key, accountId } = await newClient(h, '1');
    const to = newAddress();
    h.proxy.rule('eth_sendRawTransaction', async ({ forward }) => {
      await forward();
      return null;
    });
    h.proxy.rule('eth_getTransactionReceipt', () => null);
    const { body } = await withdraw(key, { amount: '0.5', to });
    expect(body.data).toMatchObject({ status: 'pending', to });
    expect(await balanceOf(h, key)).toEqual({ available: '0.50', held: '0.00' });
    h.proxy.rule('eth_sendRawTransaction', null);
    h.proxy.rule('eth_getTransactionReceipt', null);
    await untilStatus(key, body.data.withdrawalId, 'confirmed');
    await reconcilePayments(h.ctx, 0);
    expect(await h.usdcOf(to)).toBe(500_000n);
    expect(await events(accountId)).toHaveLength(1);
    expect(await contradictions(h.databaseUrl)).toEqual([]);
  });

  it('that could not be sent is paid once by concurrent reconcilers', async () => {
    const { key } = await newClient(h, '1');
    const to = newAddress();
    h.proxy.rule('eth_sendRawTransaction', () => null);
    const { body } = await withdraw(key, { amount: '1', to });
    expect(body.data.status).toBe('pending');
    expect(await h.usdcOf(to)).toBe(0n);
    h.proxy.rule('eth_sendRawTransaction', null);
    await Promise.all(Array.from({ length: 3 }, () => reconcilePayments(h.ctx, 0)));
    await untilStatus(key, body.data.withdrawalId, 'confirmed');
    expect(await h.usdcOf(to)).toBe(1_000_000n);
    expect(await contradictions(h.databaseUrl)).toEqual([]);
    expect(await walletByBooks(h.databaseUrl)).toBe(await h.usdcOf(h.ctx.chain.wallet));
  });

  it('is not begun while the chain cannot be asked', async () => {
    const { key } = await newClient(h, '1');
    h.proxy.rule('eth_call', () => null);
    expectError(await withdraw(key, { amount: '1' }), 'UNAVAILABLE');
    h.proxy.rule('eth_call', null);
    expect(await balanceOf(h, key)).toEqual({ available: '1.00', held: '0.00' });
  });

  it('that the token will not take goes back to the treasury once its authorization has run out', async () => {
    const { key, treasuryId } = await newClient(h, '1');
    const before = await h.usdcOf(h.ctx.chain.wallet);
    h.proxy.rule('eth_sendRawTransaction', ({ refuse }) => refuse('not now'));
    const { body } = await withdraw(key, { amount: '0.75' });
    expect(body.data.status).toBe('pending');
    await h.ctx.db.pool.query(`update chain_payment set valid_before = 1 where subject_id = $1`, [
      body.data.withdrawalId,
    ]);
    const refused = { simulate: async () => 'Blacklistable: account is blacklisted' };
    const simulator = { ...h.ctx, simulator: refused };
    await reconcilePayments(simulator, 0);
    // What was signed is good for a day in truth: from here on nobody may send it.
    expect(await read(key, body.data.withdrawalId)).toMatchObject({ status: 'failed', treasuryId });
    expect(await balanceOf(h, key)).toEqual({ available: '1.00', held: '0.00' });
    expect(await h.usdcOf(h.ctx.chain.wallet)).toBe(before);
    expect(await contradictions(h.databaseUrl)).toEqual([]);
  });
});
