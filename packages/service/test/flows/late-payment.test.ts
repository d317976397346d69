import { afterAll, beforeAll, expect, it } from 'vitest';
import { findRequestContradictions } from '../../src/calls/finish/money-audit-store.ts';
import { hasEnded } from '../../src/calls/invocation.ts';
import { findInvocation } from '../../src/calls/invocation-store.ts';
import { findById } from '../../src/payments/chain-outbox/chain-payment-store.ts';
import { failPayment } from '../../src/payments/chain-outbox/end-payments.ts';
import { bookIfPaidLate } from '../../src/payments/reconcile/book-late.ts';
import { paymentIn, submitSigned } from '../support/chain-actions.ts';
import type { Harness, TestWallet } from '../support/harness.ts';
import { borrowHarness } from '../support/lent-harness.ts';
import { leavePending } from '../support/pending-request.ts';
import { startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { until } from '../support/until.ts';
import { payV2 } from '../support/x402-payer.ts';

let h: Harness;
let agent: TestAgent;
beforeAll(async () => {
  h = await borrowHarness();
  agent = await startTestAgent(h, { perRequest: '0.05' });
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

const HOUR_MS = 3_600_000;

async function offer(key: string, wallet: TestWallet, task: string) {
  const unpaid = await h.request('POST', `/invoke/${agent.id}`, { key, body: { task } });
  return payV2(h, wallet, unpaid);
}

it('a request with a payment recorded as failed, mined late and refunded ends without a call of its agent', async () => {
  const { key } = await h.newAccount();
  const wallet = await h.newWallet(1_000_000n);
  const { db, chain } = h.ctx;
  const headers = await offer(key, wallet, 'first');
  const first = await h.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'first' }, headers });
  expect(first.status).toBe(200);
  const calls = agent.calls.length;
  const signed = paymentIn(await offer(key, wallet, 'second'));
  // Nobody takes it before it is older than 10 s.
  const createdAt = new Date(Date.now() + HOUR_MS);
  const left = { chain, worker: h.ctx.processId(), createdAt };
  const { invocation, payment } = await leavePending(db, first.body.data.requestId, signed, left);
  await failPayment(h.ctx, payment, 'invalid_exact_evm_transaction_failed');
  await submitSigned(h.rpcUrl, h, payment);
  const failed = await findById(db, payment.id);
  if (failed) await bookIfPaidLate(h.ctx, failed);
  expect((await findById(db, payment.id))?.state).toBe('settled');
  await db.query('take-now', `update invocation set created_at = now() - interval '1 minute' where id = $1`, [
    invocation.id,
  ]);
  const ended = await until(async () => {
    const found = await findInvocation(db, invocation.id);
    return found && hasEnded(found.status) ? found : null;
  });
  expect(ended).toMatchObject({ status: 'failed', errorCode: 'payment_failed', costMicro: 0n, refundMicro: 0n });
  expect(agent.calls).toHaveLength(calls);
  expect(await findRequestContradictions(db, [invocation.id])).toEqual([]);
  await until(async () => (await h.usdcOf(wallet.address)) === 950_000n);
});
