import { afterAll, beforeAll, expect, it } from 'vitest';
import { createMetrics } from '../../../src/lib/metrics.ts';
import type { NewChainPayment } from '../../../src/payments/chain-outbox/chain-payment.ts';
import { failPayment } from '../../../src/payments/chain-outbox/end-payments.ts';
import { findFate } from '../../../src/payments/chain-outbox/find-fate.ts';
import { reconcilePayments } from '../../../src/payments/reconcile/reconcile.ts';
import { watchSettlement } from '../../../src/payments/reconcile/watch-settlement.ts';
import { contradictions } from '../../support/books.ts';
import { submitSigned } from '../../support/chain-actions.ts';
import { type Engine, startEngine } from '../../support/engine.ts';

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

it('of 450 payments that failed and can still be submitted, each is looked at: also the one that failed last', async () => {
  const { ctx, chain } = engine;
  const payer = await engine.newPayer(10_000_000n);
  const validBeforeS = (await ctx.usdc.headTimeS()) + 300n;
  const failed: NewChainPayment[] = [];
  // As many at once as there are connections to the database: one more may wait for too long.
  while (failed.length < 450)
    failed.push(...(await Promise.all(Array.from({ length: 6 }, () => engine.claim(payer, { validBeforeS })))));
  for (const payment of failed) await failPayment(ctx, payment, 'invalid_exact_evm_transaction_failed');
  const landed = [failed[0], failed[201], failed[449]].flatMap((payment) => payment ?? []);
  for (const payment of landed) await submitSigned(chain.rpcUrl, engine, payment);
  await reconcilePayments(ctx);
  const states = await Promise.all(landed.map((payment) => engine.stateOf(payment)));
  expect(states).toEqual(['settled', 'settled', 'settled']);
  expect(await contradictions(engine.databaseUrl)).toEqual([]);
});

it('a failed payment whose logs cannot be read keeps no other from being booked', async () => {
  const { ctx, chain, proxy } = engine;
  const [first, second] = await engine.claimMany(2);
  if (!first || !second) throw new Error('payments were claimed');
  for (const payment of [first, second]) {
    await failPayment(ctx, payment, 'invalid_exact_evm_transaction_failed');
    await submitSigned(chain.rpcUrl, engine, payment);
  }
  proxy.rule('eth_getLogs', ({ params, refuse, forward }) =>
    JSON.stringify(params).includes(first.authorization.nonce) ? refuse('out of order') : forward(),
  );
  await reconcilePayments(ctx);
  expect(await engine.stateOf(second)).toBe('settled');
  proxy.rule('eth_getLogs', null);
  await reconcilePayments(ctx);
  expect(await engine.stateOf(first)).toBe('settled');
});

it('a rate limit of the RPC node is not fed: the search for a payment ends at the first query that it refuses', async () => {
  const { ctx, proxy } = engine;
  const [payment] = await engine.claimMany(1);
  if (!payment) throw new Error('a payment was claimed');
  let asked = 0;
  proxy.rule('eth_getLogs', ({ refuse }) => {
    asked += 1;
    return refuse('request rate exceeded');
  });
  await expect(findFate(ctx, payment, new Date())).rejects.toThrow('request rate exceeded');
  proxy.rule('eth_getLogs', null);
  expect(asked).toBe(1);
  await expect(findFate(ctx, payment, new Date(), -1)).rejects.toThrow('in time');
});

it('a step of the reconciler that fails is counted, and keeps no other from running', async () => {
  const [payment] = await engine.claimMany(1);
  if (!payment) throw new Error('a payment was claimed');
  await submitSigned(engine.chain.rpcUrl, engine, payment);
  const metrics = createMetrics();
  const reorgWatch = { look: () => Promise.reject(new Error('out of order')) };
  expect(await reconcilePayments({ ...engine.ctx, metrics, reorgWatch }, 0)).toBe(false);
  expect(await engine.stateOf(payment)).toBe('settled');
  const { values } = await metrics.recurringFailures.get();
  expect(values).toEqual([{ labels: { name: 'reconcile-payments' }, value: 1 }]);
});

it('payments with an unknown outcome are counted, with the age of the oldest', async () => {
  await engine.claimMany(2);
  const later = { ...engine.ctx, clock: { now: () => new Date(Date.now() + 100_000) } };
  await watchSettlement(later);
  const { metrics } = engine.ctx;
  expect((await metrics.unknownPayments.get()).values[0]?.value).toBe(2);
  expect((await metrics.oldestUnknownSeconds.get()).values[0]?.value).toBeGreaterThan(99);
});
