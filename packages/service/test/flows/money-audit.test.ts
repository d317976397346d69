import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { markReturned } from '../../src/calls/billed-store.ts';
import { auditMoney, findMoneyContradictions, releaseStaleHolds } from '../../src/calls/finish/audit-money.ts';
import { askDatabase } from '../support/books.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { answerWith, startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { balanceOf, type Client, newClient } from '../support/treasury.ts';
import { until } from '../support/until.ts';

let h: Harness;
let agent: TestAgent;
let client: Client;
beforeAll(async () => {
  h = await startHarness();
  agent = await startTestAgent(h, { owner: await h.newAccount(), perRequest: '0.05' });
  client = await newClient(h, '5');
});
afterAll(async () => {
  expect(await kinds()).toEqual([]);
  await agent.die();
  await h.stop();
});

const ask = (text: string, params: unknown[] = []) => askDatabase(h.databaseUrl, text, params);
const kinds = async () => [...new Set((await findMoneyContradictions(h.ctx)).map(({ kind }) => kind))].sort();
const invoke = async (): Promise<string> => {
  const { body } = await h.request('POST', `/invoke/${agent.id}`, {
    key: client.key,
    body: { task: 'x' },
    headers: { 'x-sync': 'true' },
  });
  return body.data.requestId;
};
const work = () => agent.behave(answerWith(200, { result: 'done' }));
const fail = () => agent.behave(answerWith(500, {}));
const found = async (kind: string) =>
  (await h.ctx.metrics.moneyContradictions.get()).values.find(({ labels }) => labels.kind === kind)?.value ?? 0;
/** The same node, a day and an hour later. */
const laterCtx = () => ({ ...h.ctx, clock: { now: () => new Date(Date.now() + 90_000_000) } });

/** Breaks one thing, sees what the audit says, and mends it. */
async function said(breaking: string, mending: string, params: unknown[]): Promise<string[]> {
  await ask(breaking, params);
  try {
    return await kinds();
  } finally {
    await ask(mending, params);
  }
}

describe('the audit of the books', () => {
  it('finds nothing where nothing is wrong', async () => {
    await invoke();
    fail();
    await invoke();
    work();
    expect(await kinds()).toEqual([]);
  });

  it.each([
    [
      'a request that has ended while its money is held',
      'update hold set ended_at = null, captured_micro = null where id = $1',
      'update hold set ended_at = now(), captured_micro = 50000 where id = $1',
      ['ended_with_hold', 'held_differs'],
    ],
    [
      'a completed request that was not captured',
      'update hold set captured_micro = 0 where id = $1',
      'update hold set captured_micro = 50000 where id = $1',
      ['completed_without_capture'],
    ],
    [
      'a charge that was never booked',
      `update transfer set id = 'x' where id = 'charge:' || $1`,
      `update transfer set id = 'charge:' || $1 where id = 'x'`,
      ['completed_without_capture'],
    ],
    [
      'a failed request that was charged for',
      `update invocation set status = 'failed', cost_micro = 0 where id = $1`,
      `update invocation set status = 'completed', cost_micro = 50000 where id = $1`,
      ['capture_differs'],
    ],
    [
      'an x402 request whose money went nowhere',
      `with v as (update invocation set payment_method = 'x402', scheme = 'exact' where id = $1 returning id)
       insert into chain_payment (id, chain_id, token, from_address, nonce, direction, purpose, subject_id, ledger_account_id, to_address,
         value_micro, valid_after, valid_before, signature, state, created_at)
       select 'pay_x', 1, 't', 'f', 'n', 'in', 'invocation', id, 'x', 't', 60000, 0, 0, '', 'settled', now() from v`,
      `with v as (update invocation set payment_method = 'treasury', scheme = 'treasury' where id = $1) delete from chain_payment where id = 'pay_x'`,
      ['refund_differs'],
    ],
    [
      'a balance that its transfers do not make',
      `update ledger_account set posted_micro = posted_micro + 1 where agent_id = (select agent_id from invocation where id = $1)`,
      `update ledger_account set posted_micro = posted_micro - 1 where agent_id = (select agent_id from invocation where id = $1)`,
      ['balance_differs', 'sum_differs'],
    ],
    [
      'an entry that does not follow from the one before',
      `update transfer set credit_balance_micro = credit_balance_micro + 1 where id = 'charge:' || $1`,
      `update transfer set credit_balance_micro = credit_balance_micro - 1 where id = 'charge:' || $1`,
      ['balance_differs', 'entry_differs'],
    ],
    [
      'a total that the transfers do not make',
      `with v as (select $1::text) insert into ledger_total (kind, change_micro) select 'fees', 5 from v`,
      `with v as (select $1::text) insert into ledger_total (kind, change_micro) select 'fees', -5 from v`,
      ['total_differs'],
    ],
    [
      'a hold for a request that is not there',
      `update hold set id = 'req_x', ended_at = null, captured_micro = null where id = $1`,
      `update hold set id = $1, ended_at = now(), captured_micro = 50000 where id = 'req_x'`,
      ['completed_without_capture', 'held_differs', 'hold_without_request'],
    ],
  ])('finds %s', async (_what, breaking, mending, expected) => {
    const requestId = await invoke();
    expect(await said(breaking, mending, [requestId])).toEqual(expected);
    expect(await kinds()).toEqual([]);
  });

  it('looks at every request once when it is at rest and at every account in turn, and counts what it finds', async () => {
    const requestId = await invoke();
    await auditMoney(laterCtx());
    expect(await found('completed_without_capture')).toBe(0);
    const next = await invoke();
    const wrong = [requestId, next];
    await ask('update hold set captured_micro = 0 where id = any($1)', [wrong]);
    await auditMoney(laterCtx());
    await auditMoney(laterCtx());
    await ask('update hold set captured_micro = 50000 where id = any($1)', [wrong]);
    expect(await found('completed_without_capture')).toBe(1);
    await ask('update ledger_account set held_micro = held_micro + 1 where id = $1', [client.treasuryId]);
    for (let turn = 0; turn < 2; turn++) await auditMoney(h.ctx);
    await ask('update ledger_account set held_micro = held_micro - 1 where id = $1', [client.treasuryId]);
    expect(await found('held_differs')).toBeGreaterThan(0);
  });
});

describe('no request is passed over', () => {
  const breakIt = (requestId: string) => ask('update hold set captured_micro = 0 where id = $1', [requestId]);
  const mend = (requestId: string) => ask('update hold set captured_micro = 50000 where id = $1', [requestId]);
  const newlyFound = async (requestId: string) => {
    const before = await found('completed_without_capture');
    await breakIt(requestId);
    await auditMoney(laterCtx());
    await mend(requestId);
    return (await found('completed_without_capture')) - before;
  };

  it('with an id derived from an Idempotency-Key, which does not sort by time', async () => {
    await invoke();
    await auditMoney(laterCtx());
    for (let i = 0; i < 8; i++) {
      const headers = { 'x-sync': 'true', 'idempotency-key': `audited-${i}` };
      const { body } = await h.request('POST', `/invoke/${agent.id}`, {
        key: client.key,
        body: { task: 'x' },
        headers,
      });
      expect([body.data.requestId, await newlyFound(body.data.requestId)]).toEqual([expect.any(String), 1]);
    }
  });

  it('while another that began before it stays open', async () => {
    const reached = Promise.withResolvers<void>();
    agent.behave(() => reached.resolve());
    const open = await h.request('POST', `/invoke/${agent.id}`, { key: client.key, body: { task: 'x' } });
    await reached.promise;
    work();
    expect(await newlyFound(await invoke())).toBe(1);
    await h.request('POST', `/invoke/${open.body.data.requestId}/cancel`, { key: client.key });
  });

  it('that had ended when it was stored, as one of a bulk request whose agent cannot be called', async () => {
    const gone = await startTestAgent(h, { owner: await h.newAccount(), perRequest: '0.05' });
    await gone.die();
    await ask(`update agent set status = 'offline' where id = $1`, [gone.id]);
    const body = { task: 'x', agents: [agent.id, gone.id] };
    const bulk = await h.request('POST', '/invoke/bulk', { key: client.key, body });
    const ended = bulk.body.data.requests.find(({ agentId }: { agentId: string }) => agentId === gone.id);
    expect(ended.status).toBe('failed');
    const listed = 'select request_id as id from unaudited_request where request_id = $1';
    expect(await ask(listed, [ended.requestId])).toEqual([{ id: ended.requestId }]);
  });

  it('with money that changed after it was audited', async () => {
    const requestId = await invoke();
    await auditMoney(laterCtx());
    await h.ctx.db.transaction((tx) => markReturned(tx, requestId, 0n));
    expect(await newlyFound(requestId)).toBe(1);
  });
});

describe('a hold that outlived its time', () => {
  const reopen = (requestId: string) =>
    ask(
      `with h as (
         update hold set ended_at = null, captured_micro = null where id = $1 returning ledger_account_id, amount_micro
       ) update ledger_account a set held_micro = held_micro + h.amount_micro from h where a.id = h.ledger_account_id`,
      [requestId],
    );

  it('is given back when its request has failed, and counted', async () => {
    fail();
    const requestId = await invoke();
    work();
    const before = await balanceOf(h, client.key);
    await reopen(requestId);
    expect((await balanceOf(h, client.key)).held).toBe('0.05');
    await releaseStaleHolds(h.ctx);
    expect((await balanceOf(h, client.key)).held).toBe('0.05');
    await releaseStaleHolds(laterCtx());
    expect(await balanceOf(h, client.key)).toEqual(before);
    expect(await found('stale_hold')).toBe(1);
  });

  it('is left alone as long as its request works', async () => {
    agent.behave(() => undefined);
    const { body } = await h.request('POST', `/invoke/${agent.id}`, { key: client.key, body: { task: 'x' } });
    const { requestId } = body.data;
    await releaseStaleHolds(laterCtx());
    expect((await balanceOf(h, client.key)).held).toBe('0.05');
    await h.request('POST', `/invoke/${requestId}/cancel`, { key: client.key });
    const isFree = async () => (await balanceOf(h, client.key)).held === '0.00';
    await until(isFree);
  });
});
