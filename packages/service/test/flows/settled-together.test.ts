import { parseUsdc } from '@agent-network/contracts/money';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findInvocation } from '../../src/calls/invocation-store.ts';
import { findById, findBySubject } from '../../src/payments/chain-outbox/chain-payment-store.ts';
import { settlePayment } from '../../src/payments/chain-outbox/end-payments.ts';
import { findPlace } from '../../src/payments/chain-outbox/find-fate.ts';
import { LOSS, postTransfers, WALLET } from '../../src/payments/ledger/ledger-store.ts';
import { reversePayment } from '../../src/payments/reconcile/recollect-lost.ts';
import { reconcilePayment } from '../../src/payments/reconcile/reconcile-payment.ts';
import { askDatabase } from '../support/books.ts';
import { paymentIn, submitSigned } from '../support/chain-actions.ts';
import { type Harness, startHarness, type TestWallet } from '../support/harness.ts';
import { untilSo } from '../support/network.ts';
import { leavePending } from '../support/pending-request.ts';
import { startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { untilEnded } from '../support/treasury.ts';
import { payV2 } from '../support/x402-payer.ts';

const PRICE = '0.05';
const PRICE_MICRO = parseUsdc(PRICE);
const HOUR_MS = 3_600_000;

let h: Harness;
let agent: TestAgent;
beforeAll(async () => {
  h = await startHarness();
  agent = await startTestAgent(h, { perRequest: PRICE });
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

const sumOf = async (account: string): Promise<bigint> => {
  const sql = `select coalesce(sum(case when credit = $1 then amount_micro else -amount_micro end), 0)::text as micro
    from transfer where credit = $1 or debit = $1`;
  const [row] = await askDatabase<{ micro: string }>(h.databaseUrl, sql, [account]);
  return BigInt(row?.micro ?? 0);
};
const holdOf = async (id: string) =>
  (
    await askDatabase<{ micro: string }>(h.databaseUrl, 'select amount_micro::text as micro from hold where id = $1', [
      id,
    ])
  )[0];

async function signed(key: string, wallet: TestWallet, task: string) {
  const unpaid = await h.request('POST', `/invoke/${agent.id}`, { key, body: { task } });
  return payV2(h, wallet, unpaid);
}

/** A paid call that has ended, and another request of the same wallet whose payment is on chain and in no books. Nobody runs it yet. */
async function twoOfOneWallet() {
  const { key } = await h.newAccount();
  const wallet = await h.newWallet(1_000_000n);
  const options = {
    key,
    body: { task: 'first' },
    headers: { ...(await signed(key, wallet, 'first')), 'x-sync': 'true' },
  };
  const first = (await h.request('POST', `/invoke/${agent.id}`, options)).body.data;
  expect(first.status).toBe('completed');
  const { chain } = h.ctx;
  const left = { chain, worker: h.ctx.processId(), createdAt: new Date(Date.now() + HOUR_MS) };
  const second = await leavePending(h.ctx.db, first.requestId, paymentIn(await signed(key, wallet, 'second')), left);
  await submitSigned(h.rpcUrl, h, second.payment);
  return { key, wallet, firstId: first.requestId as string, ...second };
}

/** Records the settlement as a process of the version before does: nothing begins. */
async function recordOnly({ payment }: Awaited<ReturnType<typeof twoOfOneWallet>>): Promise<void> {
  const found = await findById(h.ctx.db, payment.id);
  if (!found) throw new Error('the payment is there');
  const place = await findPlace(h.ctx, found);
  if (!place) throw new Error('the payment is on chain');
  await h.ctx.db.transaction((tx) => settlePayment(tx, payment, place, new Date()));
}

const takeNow = (id: string, deadline = 'deadline') =>
  askDatabase(
    h.databaseUrl,
    `update invocation set created_at = now() - interval '1 minute', deadline = ${deadline},
       started_at = case when started_at is null then null else now() - interval '1 minute' end where id = $1`,
    [id],
  );

it('the record of a settlement begins its request and holds its money in one transaction, whoever records it', async () => {
  const two = await twoOfOneWallet();
  const { invocation, payment } = two;
  const found = await findById(h.ctx.db, payment.id);
  if (!found) throw new Error('the payment is there');
  await reconcilePayment(h.ctx, found);
  expect(await findInvocation(h.ctx.db, invocation.id)).toMatchObject({ status: 'processing' });
  expect(await holdOf(invocation.id)).toEqual({ micro: String(PRICE_MICRO) });
  const calls = agent.calls.length;
  await takeNow(invocation.id);
  expect(await untilEnded(h, two.key, invocation.id)).toMatchObject({ status: 'completed', cost: PRICE });
  expect(agent.calls).toHaveLength(calls + 1);
});

it('a reversal takes nothing of another request of the same wallet: what was spent is the loss of the node', async () => {
  const two = await twoOfOneWallet();
  await recordOnly(two);
  const account = two.payment.ledgerAccountId;
  expect(await sumOf(account)).toBe(PRICE_MICRO);
  const lossBefore = await sumOf(LOSS);
  await askDatabase(h.databaseUrl, `update chain_payment set lost_at = now() where subject_id = $1`, [two.firstId]);
  const first = await findBySubject(h.ctx.db, two.firstId, 'invocation');
  if (!first) throw new Error('the first payment is there');
  await reversePayment(h.ctx, first, 'as after a reorg');
  expect(await findBySubject(h.ctx.db, two.firstId, 'invocation')).toMatchObject({ state: 'reversed' });
  expect(await sumOf(account)).toBe(PRICE_MICRO);
  expect(await sumOf(LOSS)).toBe(lossBefore - PRICE_MICRO);
  await takeNow(two.invocation.id);
  expect(await untilEnded(h, two.key, two.invocation.id)).toMatchObject({ status: 'completed' });
});

it('a request that loses its money to the reversal of another ends, and is refunded after its deadline at the loss of the node', async () => {
  const two = await twoOfOneWallet();
  await recordOnly(two);
  const { id: subjectId } = two.invocation;
  const reversal = { id: `reversal:${subjectId}`, debit: two.payment.ledgerAccountId, credit: WALLET };
  await postTransfers(
    h.ctx.db,
    [{ ...reversal, amountMicro: PRICE_MICRO, kind: 'reversal', subjectId: two.firstId }],
    new Date(),
  );
  const lossBefore = await sumOf(LOSS);
  await takeNow(subjectId, `now() - interval '1 second'`);
  expect(await untilEnded(h, two.key, subjectId)).toMatchObject({ status: 'failed', refund: PRICE });
  expect(await sumOf(LOSS)).toBe(lossBefore - PRICE_MICRO);
  await untilSo('it is refunded', async () => (await h.usdcOf(two.wallet.address)) === 1_000_000n - PRICE_MICRO);
});
