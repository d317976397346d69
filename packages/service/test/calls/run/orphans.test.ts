import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { recoverInvocations } from '../../../src/calls/run/recover-invocations.ts';
import { failOverdue } from '../../../src/calls/run/run-invocation.ts';
import { askDatabase } from '../../support/books.ts';
import { type Harness, startHarness } from '../../support/harness.ts';
import { untilSo } from '../../support/network.ts';
import { lockAccount, lockRecurring } from '../../support/row-lock.ts';
import { echo, startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { newClient } from '../../support/treasury.ts';

/** More than two batches. */
const ORPHANS = 230;

let h: Harness;
let agent: TestAgent;
beforeAll(async () => {
  h = await startHarness();
  agent = await startTestAgent(h, { perRequest: '0.01' });
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

async function finishedCall(key: string): Promise<string> {
  agent.behave(echo);
  const headers = { 'x-sync': 'true' };
  const { body } = await h.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'x' }, headers });
  expect(body.data.status).toBe('completed');
  return body.data.requestId;
}

/** Requests like one that ended, as a process has left them that began them a minute ago. */
const leaveBehind = (like: string, worker: string, ids: readonly string[]) =>
  askDatabase(
    h.databaseUrl,
    `insert into invocation (id, account_id, agent_id, task, input, metadata, priority, price_micro, estimated_time, deadline,
       payment_method, status, worker, attempt, created_at, started_at, caller_kind, face)
     select n.id, account_id, agent_id, task, input, metadata, priority, 0, estimated_time, now() + interval '10 minutes',
       'free', 'processing', $2, 1, now() - interval '1 minute', now() - interval '1 minute', caller_kind, face
       from invocation v, unnest($3::text[]) n(id) where v.id = $1`,
    [like, worker, ids],
  );

it('all calls of a process that died are taken over at once, however many there are', async () => {
  const { key } = await newClient(h, '1.00');
  const like = await finishedCall(key);
  const ids = Array.from({ length: ORPHANS }, (_, nth) => `req_orphan_${nth}`);
  await leaveBehind(like, randomUUID(), ids);
  // The recurring job may take some of them at the same time.
  expect(await recoverInvocations(h.ctx)).toBeGreaterThan(ORPHANS / 2);
  const open = `select count(*)::int as n from invocation where id like 'req_orphan_%' and status <> 'completed'`;
  await untilSo('all end', async () => (await askDatabase<{ n: number }>(h.databaseUrl, open))[0]?.n === 0);
  const attempts = `select max(attempt)::int as n from invocation where id like 'req_orphan_%'`;
  expect((await askDatabase<{ n: number }>(h.databaseUrl, attempts))[0]?.n).toBe(2);
});

it('one run ends all queued requests past their deadline, however many there are', async () => {
  const { key } = await newClient(h, '1.00');
  const like = await finishedCall(key);
  const ids = Array.from({ length: ORPHANS }, (_, nth) => `req_overdue_${nth}`);
  // The recurring job would end some of them at the same time, and this run would not wait for those.
  const recurring = await lockRecurring(h.databaseUrl, 'fail-overdue');
  onTestFinished(() => recurring.release());
  await askDatabase(
    h.databaseUrl,
    `insert into invocation (id, account_id, agent_id, task, input, metadata, priority, price_micro, estimated_time, deadline,
       payment_method, status, attempt, created_at, caller_kind, face)
     select n.id, account_id, agent_id, task, input, metadata, priority, 0, estimated_time, now() - interval '1 second',
       'free', 'pending', 1, now() - interval '1 minute', caller_kind, face
       from invocation v, unnest($2::text[]) n(id) where v.id = $1`,
    [like, ids],
  );
  await failOverdue(h.ctx);
  const ended = `select count(*)::int as n from invocation where id like 'req_overdue_%' and error_code = 'deadline_exceeded'`;
  expect((await askDatabase<{ n: number }>(h.databaseUrl, ended))[0]?.n).toBe(ORPHANS);
});

it('a request of this process is not taken for lost before it is tracked, however long its acceptance waited', async () => {
  const { key } = await newClient(h, '1.00');
  const like = await finishedCall(key);
  const forget = h.ctx.runner.expect(['req_expected']);
  await leaveBehind(like, h.ctx.processId(), ['req_expected']);
  await recoverInvocations(h.ctx);
  const attempt = async () =>
    (
      await askDatabase<{ n: number }>(h.databaseUrl, `select attempt as n from invocation where id = 'req_expected'`)
    )[0]?.n;
  expect(await attempt()).toBe(1);
  // Without whoever expects it, nobody knows of it: its answer was lost.
  forget();
  await untilSo('it is taken', async () => (await recoverInvocations(h.ctx)) > 0 || (await attempt()) === 2);
});

it('a request is expected from before its transaction until it is tracked', async () => {
  const { key, treasuryId } = await newClient(h, '1.00');
  const lock = await lockAccount(h.databaseUrl, treasuryId);
  onTestFinished(lock.release);
  const before = new Set(h.ctx.runner.knownIds());
  const answered = h.request('POST', `/invoke/${agent.id}`, {
    key,
    body: { task: 'x' },
    headers: { 'x-sync': 'true' },
  });
  await untilSo('it is expected', async () => h.ctx.runner.knownIds().some((id) => !before.has(id)));
  expect(h.ctx.runner.trackedIds().filter((id) => !before.has(id))).toEqual([]);
  await lock.release();
  expect((await answered).body.data).toMatchObject({ status: 'completed' });
  await untilSo('nothing stays', async () => h.ctx.runner.knownIds().length === 0);
});

it('a process that was declared dead accepts nothing that another would run too', async () => {
  const { key } = await newClient(h, '1.00');
  const calls = agent.calls.length;
  await askDatabase(h.databaseUrl, 'delete from process where id = $1', [h.ctx.processId()]);
  const refused = await h.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'x' } });
  expect(refused).toMatchObject({ status: 503, body: { error: { details: { outcome: 'nothing' } } } });
  expect(agent.calls).toHaveLength(calls);
  // It goes on under a new id.
  await untilSo('it accepts again', async () => {
    const { status } = await h.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'x' } });
    return status === 200;
  });
});
