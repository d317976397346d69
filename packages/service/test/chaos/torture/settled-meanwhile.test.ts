import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../../src/lib/id.ts';
import { findBySubject, insertChainPayments } from '../../../src/payments/chain-outbox/chain-payment-store.ts';
import { reconcilePayment } from '../../../src/payments/reconcile/reconcile-payment.ts';
import { paymentIn, submitPayment } from '../../support/chain-actions.ts';
import { type ProxiedHarness, startProxiedHarness } from '../../support/proxied-harness.ts';
import { newClient } from '../../support/treasury.ts';
import { payV2 } from '../../support/x402-payer.ts';

let h: ProxiedHarness;

beforeAll(async () => {
  h = await startProxiedHarness();
});
afterAll(() => h?.stop());

it('a payment that lands between two questions to the chain has not failed', async () => {
  const { key, accountId, treasuryId } = await newClient(h, '0.10');
  const wallet = await h.newWallet(50_000n);
  const call = { key, body: { amount: '0.05', treasuryId } };
  const headers = await payV2(h, wallet, await h.request('POST', '/payments/treasury/deposit', call));
  const { authorization, signature } = paymentIn(headers);
  const subjectId = newId('trf');
  const payment = {
    id: newId('pay'),
    chainId: h.ctx.chain.chainId,
    token: h.ctx.chain.token,
    direction: 'in' as const,
    purpose: 'deposit' as const,
    subjectId,
    accountId,
    ledgerAccountId: treasuryId,
    authorization,
    signature,
    fingerprint: null,
    x402Version: 2 as const,
  };
  await insertChainPayments(h.ctx.db, [payment], h.ctx.clock.now());
  const open = await findBySubject(h.ctx.db, subjectId, 'deposit');
  if (!open) throw new Error('the payment is not there');

  // The first question, whether it is spent, is answered as things were before it landed.
  h.proxy.rule('eth_call', async ({ forward }) => {
    h.proxy.rule('eth_call', null);
    const notYet = await forward();
    await submitPayment(h.chain.rpcUrl, h, headers);
    return notYet;
  });
  await reconcilePayment(h.ctx, open);

  expect(await findBySubject(h.ctx.db, subjectId, 'deposit')).toMatchObject({ state: 'settled', reason: null });
  expect((await h.request('GET', '/payments/balance', { key })).body.data.available).toBe('0.15');
});
