import { describe, it } from 'vitest';
import { askDatabase, contradictions, walletByBooks } from '../support/books.ts';
import { type Answer, type Harness, startHarness } from '../support/harness.ts';
import { isLong } from '../support/long.ts';
import { type ProxiedHarness, startProxiedHarness } from '../support/proxied-harness.ts';
import { lockInvocation } from '../support/row-lock.ts';
import { echo, startTestAgent } from '../support/test-agent.ts';
import { balanceOf, newClient } from '../support/treasury.ts';
import { until } from '../support/until.ts';
import { payV2 } from '../support/x402-payer.ts';

/** The chain takes every transaction and mines none, as a crowded one does. */
const takeButDoNotMine = (h: ProxiedHarness) =>
  h.proxy.rule('eth_sendRawTransaction', ({ answer }) => answer(`0x${'0'.repeat(64)}`));

/** Ends every connection that waits for a lock, as a restart of the database would. */
const breakConnections = (h: Harness) =>
  askDatabase(
    h.databaseUrl,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );

/** A caller waits for 30 s unless a test says otherwise; the long run takes these, and a deposit's 25 s. */
const waits = isLong ? {} : { syncWaitMs: 3000 };

describe.concurrent('slow parts', () => {
  it('a payment that the chain keeps waiting longer than a caller can is pending, never refused; the same payment again gets the result, and nothing is paid twice', async ({
    expect,
    onTestFinished,
  }) => {
    const h = await startProxiedHarness(waits);
    onTestFinished(() => h.stop());
    const agent = await startTestAgent(h, { perRequest: '0.05' });
    onTestFinished(() => agent.die());

    const { key } = await h.newAccount();
    await h.request('POST', '/payments/treasury', { key, body: {} });
    const wallet = await h.newWallet(1_000_000n);
    const force = { 'x-payment-method': 'x402' };
    const call = async (headers: Record<string, string> = {}) =>
      h.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'wait' }, headers: { ...force, ...headers } });
    const deposit = async (headers: Record<string, string> = {}) =>
      h.request('POST', '/payments/treasury/deposit', { key, body: { amount: '0.25' }, headers });
    const [forCall, forDeposit] = [await payV2(h, wallet, await call()), await payV2(h, wallet, await deposit())];

    takeButDoNotMine(h);
    const waiting = await Promise.all([call(forCall), deposit(forDeposit)]);
    for (const { status, body, headers } of waiting) {
      expect({ status, code: body.error?.code }).toEqual({ status: 503, code: 'PAYMENT_PENDING' });
      expect(headers.get('retry-after')).toMatch(/^\d+$/);
      expect(headers.get('payment-required')).toBeNull();
    }
    expect(agent.calls.length).toBe(0);
    expect((await h.request('GET', '/payments/balance', { key })).body.data).toMatchObject({
      available: '0.00',
      pending: '0.25',
    });

    h.proxy.rule('eth_sendRawTransaction', null);
    const untilNotPending = (ask: () => Promise<Answer>) =>
      until(async () => ((answer) => (answer.status === 503 ? null : answer))(await ask()));
    const [paid, credited] = await Promise.all([
      untilNotPending(() => call(forCall)),
      untilNotPending(() => deposit(forDeposit)),
    ]);
    expect(paid?.body.data).toMatchObject({ status: 'completed', requestId: waiting[0]?.body.error.details.requestId });
    expect(credited?.body.data).toMatchObject({ amount: '0.25', balance: '0.25' });
    expect(agent.calls.length).toBe(1);
    expect(await h.usdcOf(wallet.address)).toBe(700_000n);
    expect(await balanceOf(h, key)).toEqual({ available: '0.25', held: '0.00' });
    await h.ctx.settler.idle();
    expect(await walletByBooks(h.databaseUrl)).toBe(await h.usdcOf(h.ctx.wallet.address));
    expect(await contradictions(h.databaseUrl)).toEqual([]);
  });

  it('a clock that runs ahead of the chain does not make a payment expire that the chain can still take', async ({
    expect,
    onTestFinished,
  }) => {
    let aheadMs = 0;
    const h = await startProxiedHarness({ clock: { now: () => new Date(Date.now() + aheadMs) } });
    onTestFinished(() => h.stop());
    const agent = await startTestAgent(h, { perRequest: '0.05' });
    onTestFinished(() => agent.die());

    const { key } = await h.newAccount();
    const wallet = await h.newWallet(50_000n);
    const deadline = new Date(Date.now() + 3_600_000).toISOString();
    const invoke = (headers: Record<string, string> = {}) =>
      h.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'patience', deadline }, headers });
    const headers = await payV2(h, wallet, await invoke());
    const sent = Promise.withResolvers<void>();
    h.proxy.rule('eth_sendRawTransaction', ({ answer }) => {
      sent.resolve();
      return answer(`0x${'0'.repeat(64)}`);
    });
    const paying = invoke(headers);
    await sent.promise;

    aheadMs = 600_000;
    let looks = 0;
    h.proxy.rule('eth_call', ({ forward }) => {
      looks += 1;
      return forward();
    });
    await until(async () => looks >= 3);
    h.proxy.rule('eth_sendRawTransaction', null);
    expect((await paying).body.data).toMatchObject({ status: 'completed', cost: '0.05' });
    expect(await h.usdcOf(wallet.address)).toBe(0n);
    expect(await contradictions(h.databaseUrl)).toEqual([]);
  });

  it('a database connection that breaks while an end is recorded loses neither call nor money: the waiting caller gets the result', async ({
    expect,
    onTestFinished,
  }) => {
    const h = await startHarness();
    onTestFinished(() => h.stop());
    const agent = await startTestAgent(h, { perRequest: '0.05' });
    onTestFinished(() => agent.die());

    agent.behave(async (request, response) => {
      agent.behave(echo);
      const lock = await lockInvocation(h.databaseUrl, request.body.request_id);
      await echo(request, response);
      await lock.untilWaitedFor();
      await breakConnections(h);
      await lock.release();
    });
    const { key } = await newClient(h, '0.05');
    const wallet = await h.newWallet(50_000n);
    const call = { key, body: { task: 'hold on' } };
    const path = `/invoke/${agent.id}`;
    const force = { 'x-payment-method': 'x402' };
    const headers = await payV2(h, wallet, await h.request('POST', path, { ...call, headers: force }));
    const { status, body } = await h.request('POST', path, { ...call, headers });
    expect({ status, ...body.data }).toMatchObject({ status: 'completed', cost: '0.05', result: { echo: 'hold on' } });
    expect(new Set(agent.calls.map((each) => each.headers['idempotency-key']))).toEqual(new Set([body.data.requestId]));
    expect(await h.usdcOf(wallet.address)).toBe(0n);
    expect(await balanceOf(h, key)).toEqual({ available: '0.05', held: '0.00' });
    expect(await contradictions(h.databaseUrl)).toEqual([]);
  });
});
