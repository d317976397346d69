import pg from 'pg';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { endBulkRequest } from '../../../src/calls/bulk/bulk.ts';
import { findInvocation } from '../../../src/calls/invocation-store.ts';
import type { Tx } from '../../../src/store/sql.ts';
import { askDatabase, contradictions } from '../../support/books.ts';
import { type Harness, startHarness } from '../../support/harness.ts';
import { untilSo } from '../../support/network.ts';
import { type Behaviour, echo, startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { type Client, newClient } from '../../support/treasury.ts';

/** More than the node has connections for. */
const PARTS = 7;
const BIG = 'x'.repeat(300_000);
let h: Harness;
let agents: TestAgent[];
let client: Client;
beforeAll(async () => {
  h = await startHarness();
  agents = await Promise.all(Array.from({ length: PARTS + 1 }, () => startTestAgent(h, { perRequest: '0.01' })));
  client = await newClient(h, '2.00');
});
afterAll(async () => {
  await Promise.all(agents.map((agent) => agent.die()));
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  await h.stop();
});

/** Starts a bulk request and waits until each agent has its call. */
async function startBulk(strategy: string, behaviour: Behaviour, input = {}) {
  const parts = agents.slice(0, PARTS);
  const before = parts.map(({ calls }) => calls.length);
  for (const agent of parts) agent.behave(behaviour);
  const body = { task: 'x', input, strategy, agents: parts.map(({ id }) => id) };
  const { data } = (await h.request('POST', '/invoke/bulk', { key: client.key, body })).body;
  await untilSo('all are called', async () => parts.every(({ calls }, nth) => calls.length > (before[nth] ?? 0)));
  const bulkId: string = data.bulkId;
  const requestIds: string[] = data.requests.map(({ requestId }: { requestId: string }) => requestId);
  const read = async () => (await h.request('GET', `/invoke/bulk/${bulkId}`, { key: client.key })).body.data;
  const states = async () => (await read()).requests.map(({ status }: { status: string }) => status);
  return { bulkId, requestIds, read, states };
}

it('ends that wait for the lock of their bulk request hold one connection, and others are served meanwhile', async () => {
  const gate = Promise.withResolvers<void>();
  const { bulkId, read, states } = await startBulk('all', async (request, response) => {
    await gate.promise;
    await echo(request, response);
  });
  const holder = new pg.Client(h.databaseUrl);
  await holder.connect();
  onTestFinished(() => holder.end());
  await holder.query('begin');
  await holder.query('select from bulk where id = $1 for update', [bulkId]);
  const waiting = async () =>
    (
      await askDatabase<{ n: number }>(
        h.databaseUrl,
        `select count(*)::int as n from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query like '%from bulk where id%'`,
      )
    )[0]?.n;
  gate.resolve();
  await untilSo('an end waits', async () => (await waiting()) !== 0);
  const call = { key: client.key, body: { task: 'x' }, headers: { 'x-sync': 'true' } };
  for (let nth = 0; nth < 3; nth++) {
    const answer = await h.request('POST', `/invoke/${agents[PARTS]?.id}`, call);
    expect(answer.body.data).toMatchObject({ status: 'completed', cost: '0.01' });
  }
  expect(await waiting()).toBe(1);
  await holder.query('rollback');
  await untilSo('the bulk request has ended', async () => (await read()).status === 'completed');
  expect(await states()).toEqual(Array.from({ length: PARTS }, () => 'completed'));
});

it.each(['all', 'majority', 'first_success'])('an end reads no contents of a bulk request for %s', async (strategy) => {
  const silent = () => undefined;
  const { bulkId, requestIds, read, states } = await startBulk(strategy, silent, { text: BIG });
  let bytes = 0;
  const end = async (nth: number) => {
    const invocation = await findInvocation(h.ctx.db, requestIds[nth] ?? '');
    if (!invocation) throw new Error('there is no such request');
    const outcome = { kind: 'completed', result: { text: BIG, a: 1 }, claimedMicro: null } as const;
    await h.ctx.db.transaction(async (tx) => {
      const counting = async (...statement: Parameters<Tx['query']>) => {
        const rows = await tx.query(...statement);
        bytes += JSON.stringify(rows, (_key, value) => (typeof value === 'bigint' ? String(value) : value)).length;
        return rows;
      };
      await endBulkRequest(h.ctx, { ...tx, query: counting } as Tx, bulkId, {
        ...{ end: { invocation, outcome }, locks: 'wait' },
      });
    });
  };
  for (let nth = 0; (await read()).status === 'processing'; nth++) await end(nth);
  expect(bytes).toBeLessThan(BIG.length);
  const completed = { all: 7, majority: 4, first_success: 1 }[strategy] ?? 0;
  expect(await read()).toMatchObject({ status: 'completed', winner: strategy === 'all' ? null : requestIds[0] });
  expect((await states()).filter((state: string) => state === 'completed')).toHaveLength(completed);
  // What was cancelled has the hash of its input too.
  const [hashes] = await askDatabase<{ n: number }>(
    h.databaseUrl,
    `select count(distinct substring(content_hashes for 64))::int as n from invocation where bulk_id = $1`,
    [bulkId],
  );
  expect(hashes?.n).toBe(1);
});
