import pg from 'pg';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { agentTreasuryId } from '../../../src/payments/ledger/treasury.ts';
import { askDatabase, contradictions } from '../../support/books.ts';
import { type Harness, startHarness } from '../../support/harness.ts';
import { untilSo } from '../../support/network.ts';
import { lockAccount } from '../../support/row-lock.ts';
import { echo, startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { balanceOf, type Client, newClient, untilEnded } from '../../support/treasury.ts';
import { startWatch } from '../../support/watch.ts';

/** A call that waited for a locked row of others took 10 s and more. */
const SOON_MS = 8000;
/** More than a process has database connections. */
const MANY = 12;

let h: Harness;
let agents: TestAgent[];
let other: Client;
beforeAll(async () => {
  h = await startHarness();
  agents = await Promise.all([1, 2].map(() => startTestAgent(h, { perRequest: '0.01' })));
  other = await newClient(h, '5.00');
});
afterAll(async () => {
  await Promise.all(agents.map((agent) => agent.die()));
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  await h.stop();
});

const agentNr = (nth: number) => agents[nth] as TestAgent;
const idOf = (nth: number) => agentNr(nth).id;
const call = (key: string, agentId: string, isSync = true) =>
  h.request('POST', `/invoke/${agentId}`, {
    key,
    body: { task: 'x' },
    headers: isSync ? { 'x-sync': 'true' } : {},
  });

/** Calls of the other account, each of which is served as if nothing were locked. */
async function expectServed(agentId: string, count = 10): Promise<void> {
  for (let nth = 0; nth < count; nth++) {
    const tookMs = startWatch();
    expect((await call(other.key, agentId)).body.data).toMatchObject({ status: 'completed', cost: '0.01' });
    expect(tookMs()).toBeLessThan(SOON_MS);
  }
}

it('a locked account delays the calls of no other account, however many wait for it', async () => {
  const stuck = await newClient(h, '1.00');
  const lock = await lockAccount(h.databaseUrl, stuck.treasuryId);
  onTestFinished(lock.release);
  const waiting = Array.from({ length: MANY }, () => call(stuck.key, idOf(0)));
  await expectServed(idOf(0));
  await expectServed(idOf(1));
  // Told that nothing was done; the next call waits anew.
  for (const answer of await Promise.all(waiting))
    expect(answer).toMatchObject({ status: 503, body: { error: { details: { outcome: 'nothing' } } } });
  await lock.release();
  expect((await call(stuck.key, idOf(0))).body.data).toMatchObject({ status: 'completed' });
  expect(await balanceOf(h, stuck.key)).toEqual({ available: '0.99', held: '0.00' });
});

it('calls that end while the account of their payer is locked hold nothing of the agent that others call', async () => {
  const stuck = await newClient(h, '1.00');
  const gate = Promise.withResolvers<void>();
  agentNr(0).behave(async (request, response) => {
    if (request.body.task !== 'x') await gate.promise;
    await echo(request, response);
  });
  const start = async () =>
    (await h.request('POST', `/invoke/${idOf(0)}`, { key: stuck.key, body: { task: 'slow' } })).body.data.requestId;
  const ids: string[] = [];
  for (let nth = 0; nth < 3; nth++) ids.push(await start());
  const body = { task: 'slow', input: {}, strategy: 'all', agents: [idOf(0), idOf(1)] };
  const bulk = (await h.request('POST', '/invoke/bulk', { key: stuck.key, body })).body.data;
  const before = agentNr(0).calls.length;
  expect(before).toBeGreaterThan(0);
  const lock = await lockAccount(h.databaseUrl, stuck.treasuryId);
  onTestFinished(lock.release);
  gate.resolve();
  await expectServed(idOf(0));
  await lock.release();
  for (const id of ids) expect(await untilEnded(h, stuck.key, id)).toMatchObject({ status: 'completed' });
  await untilSo(
    'the bulk request ends',
    async () =>
      (await h.request('GET', `/invoke/bulk/${bulk.bulkId}`, { key: stuck.key })).body.data.status === 'completed',
  );
});

it('a locked treasury of an agent delays no call of another agent', async () => {
  const lock = await lockAccount(h.databaseUrl, agentTreasuryId(idOf(0)));
  onTestFinished(lock.release);
  const caller = await newClient(h, '1.00');
  const started = await Promise.all(Array.from({ length: MANY }, () => call(caller.key, idOf(0), false)));
  await expectServed(idOf(1));
  await lock.release();
  for (const { body } of started)
    expect(await untilEnded(h, caller.key, body.data.requestId)).toMatchObject({ status: 'completed' });
});

it('a bulk request locks its treasury after all that takes long', async () => {
  const caller = await newClient(h, '1.00');
  const holder = new pg.Client(h.databaseUrl);
  await holder.connect();
  onTestFinished(() => holder.end());
  await holder.query('begin');
  // Storing a bulk request stands still.
  await holder.query('lock table bulk in share mode');
  const body = { task: 'x', input: {}, strategy: 'all', agents: [idOf(0), idOf(1)] };
  const storing = h.request('POST', '/invoke/bulk', { key: caller.key, body });
  const waiting = `select count(*)::int as n from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query ilike '%insert into bulk%'`;
  await untilSo('it waits', async () => (await askDatabase<{ n: number }>(h.databaseUrl, waiting))[0]?.n === 1);
  expect((await call(caller.key, idOf(0))).body.data).toMatchObject({ status: 'completed' });
  await holder.query('rollback');
  await storing;
});
