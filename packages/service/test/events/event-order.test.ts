import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TooManyEventsError } from '../../src/events/outbox/event-store.ts';
import { forgetEvents } from '../../src/events/outbox/forget-events.ts';
import { emit } from '../../src/events/outbox/outbox.ts';
import { listEvents } from '../../src/events/outbox/read-events.ts';
import { encodeJson } from '../../src/lib/json/prepared-json.ts';
import type { Database } from '../../src/store/database.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { openEventWorld } from './support/event-world.ts';
import { happened } from './support/sample-event.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

async function setUp() {
  const world = openEventWorld(database.url);
  const { accountId } = await world.newAccount();
  const ctx = { db: world.db, readSubjects: async () => [{ read: 'just now' }] };
  const read = async (query: Parameters<typeof listEvents>[2] = {}): Promise<DataOf<Api['listEvents']>> =>
    JSON.parse(encodeJson(await listEvents(ctx, { accountId }, query)).toString());
  return { world, accountId, read };
}

test('an event is not shown while one that comes before it may still be committed', async () => {
  const { world, accountId, read } = await setUp();
  const opened = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  const slow = world.db.transaction(async (tx) => {
    await tx.query('take-a-transaction-id', 'select pg_current_xact_id()');
    opened.resolve();
    await finish.promise;
    await emit(tx, [happened(accountId, 'slow')], world.ctx.clock.now());
  });
  await opened.promise;
  await world.emit(happened(accountId, 'quick'));
  expect((await read()).events).toEqual([]);
  finish.resolve();
  await slow;
  await expect
    .poll(async () => (await read()).events.map(({ data }) => data))
    .toEqual([{ id: 'slow' }, { id: 'quick' }]);
});

test('an open transaction of another database of the same server does not hold up events', async () => {
  const { world, accountId, read } = await setUp();
  const neighbour = await createTestDatabase();
  const client = new pg.Client(neighbour.url);
  await client.connect();
  await client.query('begin; select pg_current_xact_id()');
  await world.emit(happened(accountId, 'quick'));
  expect((await read()).events).toMatchObject([{ data: { id: 'quick' } }]);
  await client.query('rollback');
  await client.end();
  await neighbour.drop();
});

test('a reader that pages while many write at once misses nothing and sees nothing twice', async () => {
  const { world, accountId, read } = await setUp();
  const writers = Promise.all(
    Array.from({ length: 8 }, async (_, writer) => {
      for (let round = 0; round < 15; round++)
        await world.db.transaction(async (tx) => {
          await tx.query('take-a-transaction-id', 'select pg_current_xact_id()');
          await tx.query('pause', 'select pg_sleep($1)', [Math.random() / 100]);
          await emit(tx, [happened(accountId, `${writer}.${round}.1`)], world.ctx.clock.now());
          await emit(tx, [happened(accountId, `${writer}.${round}.2`)], world.ctx.clock.now());
        });
    }),
  );
  const seen: number[] = [];
  let after = 0;
  const readOn = async () => {
    const page = await read({ after, limit: 10 });
    after = page.next;
    seen.push(...page.events.map(({ sequence }) => sequence));
    return seen.length;
  };
  await expect.poll(readOn, { interval: 2 }).toBe(240);
  await writers;
  expect(await readOn()).toBe(240);
  expect(new Set(seen).size).toBe(240);
});

test('events of a type, a page at a time; one without a copy of its object is read', async () => {
  const { world, accountId, read } = await setUp();
  const completed = happened(accountId, 'req_1', { type: 'invocation.completed', data: null });
  await world.emit(happened(accountId, 'agt_1'), completed, happened(accountId, 'agt_2'));
  await expect.poll(async () => (await read()).events.length).toBe(3);
  const first = await read({ limit: 2 });
  expect(first).toMatchObject({ hasMore: true, next: first.events[1]?.sequence });
  const rest = await read({ after: first.next });
  expect(rest).toMatchObject({ hasMore: false, events: [{ data: { id: 'agt_2' } }] });
  expect(await read({ after: rest.next })).toEqual({ events: [], hasMore: false, next: rest.next });
  const typed = await read({ type: 'invocation.completed' });
  expect(typed.events).toMatchObject([{ type: 'invocation.completed', data: { read: 'just now' } }]);
});

test('whoever reads events of one type misses nothing when those of other types are removed', async () => {
  const { world, accountId, read } = await setUp();
  const type = 'agent.removed';
  await world.emit(happened(accountId, 'agt_1', { type }));
  await expect.poll(async () => (await read({ type })).events.length).toBe(1);
  const first = (await read({ type })).events[0]?.sequence ?? 0;
  await world.emit(happened(accountId, 'agt_2'));
  await world.emit(happened(accountId, 'agt_3'));
  await expect.poll(async () => (await read()).events.length).toBe(3);
  const { events, next } = await read({ type, after: first });
  expect(events).toEqual([]);
  await forgetIn(world.db, 31);
  expect((await read()).events.length).toBeLessThan(2);
  await expect(read({ type, after: first })).rejects.toMatchObject({ code: 'GONE' });
  await world.emit(happened(accountId, 'agt_4', { type }));
  await expect.poll(async () => (await read({ type, after: next })).events).toMatchObject([{ data: { id: 'agt_4' } }]);
});

/** Deletes what is too old so many days from now. */
const forgetIn = (db: Database, days: number) =>
  forgetEvents({
    db,
    clock: { now: () => new Date(Date.now() + days * 86_400_000) },
    retention: { resultDays: 90, chunkDays: 7, eventDays: 30 },
  });

test('an endpoint without deliveries for weeks keeps its own events, at most twice as long, and no events of others', async () => {
  const { world, accountId: other } = await setUp();
  const { accountId } = await world.newAccount();
  const { webhookId } = await world.newEndpoint(accountId, 'http://127.0.0.1:1/');
  // More than one step of a removal looks at, and all before those of the other account.
  const count = 10_001;
  await world.db.query(
    '',
    `with told as (
       insert into event (sequence, id, account_id, type, subject_id, data, needs_fan_out, created_at)
       select n, 'evt_' || n, $2, 'agent.online', 'agt_1', '{}', false, now() from generate_series(1, $3::int) as n returning id, sequence, type
     )
     insert into webhook_delivery (id, webhook_id, event_id, sequence, type, state, attempts, tries, next_attempt_at, created_at)
     select 'dlv_' || id, $1, id, sequence, type, 'pending', 0, 0, now(), now() from told`,
    [webhookId, accountId, count],
  );
  await world.emit(happened(other));
  await world.emit(happened(other, 'newest'));
  const countOf = async (sql: string, id: string) =>
    (await world.db.query<{ n: number }>('', `select count(*)::int as n from ${sql}`, [id]))[0]?.n;
  const kept = async () => [
    await countOf('event where account_id = $1', other),
    await countOf('event where account_id = $1', accountId),
    await countOf("webhook_delivery where webhook_id = $1 and state = 'pending'", webhookId),
    await countOf('webhook_delivery where webhook_id = $1', webhookId),
  ];
  await forgetIn(world.db, 31);
  expect(await kept()).toEqual([1, count, count, count]);
  await forgetIn(world.db, 59);
  expect(await kept()).toEqual([1, count, count, count]);
  await forgetIn(world.db, 61);
  expect(await kept()).toEqual([1, 0, 0, 0]);
});

test('a transaction that has no sequences left is refused, and does not take those of the next', async () => {
  const { world, accountId, read } = await setUp();
  const some = Array.from({ length: 4096 }, () => happened(accountId, 'agt_1'));
  const written = world.db.transaction(async (tx) => {
    await emit(tx, some, world.ctx.clock.now());
    await emit(tx, [happened(accountId, 'agt_2')], world.ctx.clock.now());
  });
  await expect(written).rejects.toThrow(TooManyEventsError);
  await expect(world.emit(...some, happened(accountId, 'agt_2'))).rejects.toThrow(TooManyEventsError);
  await world.emit(happened(accountId, 'agt_3'));
  await expect.poll(async () => (await read()).events).toMatchObject([{ data: { id: 'agt_3' } }]);
});

test('in a database that counts transactions from a lower number again, new events still come last', async () => {
  const { world, accountId, read } = await setUp();
  await world.emit(happened(accountId, 'old'));
  await world.db.query(
    'restored-later',
    `update event set sequence = sequence + 4096::bigint * 1000000 where account_id = $1`,
    [accountId],
  );
  await world.startDispatcher();
  const offset = async () =>
    (await world.db.query<{ set: boolean }>('offset', 'select xid_offset > 0 as set from event_clock'))[0]?.set;
  await expect.poll(offset).toBe(true);
  await world.emit(happened(accountId, 'new'));
  await expect.poll(async () => (await read()).events.map(({ data }) => data)).toEqual([{ id: 'old' }, { id: 'new' }]);
});
