import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contradictions, walletByBooks } from '../support/books.ts';
import { type ProxiedHarness, startProxiedHarness } from '../support/proxied-harness.ts';
import { startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { balanceOf } from '../support/treasury.ts';
import { payV2 } from '../support/x402-payer.ts';

let h: ProxiedHarness;
let agent: TestAgent;
beforeAll(async () => {
  h = await startProxiedHarness();
  agent = await startTestAgent(h, { perRequest: '0.05' });
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

/** The chain takes every transaction and mines none, as a crowded one does. */
const takeButDoNotMine = () => h.proxy.rule('eth_sendRawTransaction', ({ answer }) => answer(`0x${'0'.repeat(64)}`));

describe('a payment that the chain keeps waiting longer than a caller can', () => {
  it('is pending, never refused; the same payment again gets the result, and nothing is paid twice', {
    timeout: 80_000,
  }, async () => {
    const { key } = await h.newAccount();
    await h.request('POST', '/payments/treasury', { key, body: {} });
    const wallet = await h.newWallet(1_000_000n);
    const force = { 'x-payment-method': 'x402' };
    const call = async (headers: Record<string, string> = {}) =>
      h.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'wait' }, headers: { ...force, ...headers } });
    const deposit = async (headers: Record<string, string> = {}) =>
      h.request('POST', '/payments/treasury/deposit', { key, body: { amount: '0.25' }, headers });
    const [forCall, forDeposit] = [await payV2(h, wallet, await call()), await payV2(h, wallet, await deposit())];

    takeButDoNotMine();
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
    const [paid, credited] = await Promise.all([call(forCall), deposit(forDeposit)]);
    expect(paid.body.data).toMatchObject({ status: 'completed', requestId: waiting[0]?.body.error.details.requestId });
    expect(credited.body.data).toMatchObject({ amount: '0.25', balance: '0.25' });
    expect(agent.calls.length).toBe(1);
    expect(await h.usdcOf(wallet.address)).toBe(700_000n);
    expect(await balanceOf(h, key)).toEqual({ available: '0.25', held: '0.00' });
    await h.ctx.settler.idle();
    expect(await walletByBooks(h.databaseUrl)).toBe(await h.usdcOf(h.ctx.wallet.address));
    expect(await contradictions(h.databaseUrl)).toEqual([]);
  });
});
