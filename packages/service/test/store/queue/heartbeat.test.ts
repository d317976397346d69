import { randomUUID } from 'node:crypto';
import { test } from 'vitest';
import { silentLog as log } from '../../../src/lib/telemetry/log.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import { createDrain } from '../../../src/store/queue/drain.ts';
import { type HeartbeatOptions, startHeartbeat } from '../../../src/store/queue/heartbeat.ts';
import { createTestDatabase } from '../../support/test-database.ts';

/** A database of its own, with helpers on it; everything ends with the test. */
async function openWorld(onTestFinished: (end: () => Promise<void>) => void) {
  const testDatabase = await createTestDatabase();
  const db = openDatabase(testDatabase.url, { log });
  const stops: (() => Promise<void>)[] = [];
  onTestFinished(async () => {
    await Promise.all(stops.map((stop) => stop()));
    await db.close();
    await testDatabase.drop();
  });
  return {
    db,
    async live(hooks: Omit<HeartbeatOptions, 'self'> = {}) {
      const heartbeat = await startHeartbeat({ db, log }, { self: { label: 'test' }, ...hooks });
      let stopping: Promise<void> | undefined;
      const stop = () => {
        stopping ??= heartbeat.stop();
        return stopping;
      };
      stops.push(stop);
      return { ...heartbeat, stop };
    },
    insertDead: () => insertDead(db),
    listProcesses: () => listProcesses(db),
  };
}

async function insertDead(db: Database): Promise<string> {
  const id = randomUUID();
  await db.query(
    'test-insert-dead',
    `insert into process (id, label, seen_at) values ($1, 'dead', now() - interval '11 seconds')`,
    [id],
  );
  return id;
}

async function listProcesses(db: Database): Promise<string[]> {
  const rows = await db.query<{ id: string }>('test-processes', 'select id from process order by id');
  return rows.map((row) => row.id);
}

test.concurrent('of several living processes exactly one takes over each dead one', async ({
  expect,
  onTestFinished,
}) => {
  const world = await openWorld(onTestFinished);
  const taken: string[] = [];
  const hooks = { onProcessDead: async (_tx: unknown, id: string) => void taken.push(id) };
  const living = await Promise.all([world.live(hooks), world.live(hooks), world.live(hooks)]);
  const dead = await Promise.all([world.insertDead(), world.insertDead(), world.insertDead(), world.insertDead()]);
  const livingIds = living.map((process) => process.processId()).sort();
  await expect.poll(world.listProcesses).toEqual(livingIds);
  expect([...taken].sort()).toEqual([...dead].sort());
});

test.concurrent('a takeover that fails is undone and tried again', async ({ expect, onTestFinished }) => {
  const world = await openWorld(onTestFinished);
  await world.db.pool.query('create table takeover (process_id uuid primary key)');
  let calls = 0;
  const me = await world.live({
    async onProcessDead(tx, id) {
      calls += 1;
      await tx.query('test-takeover', 'insert into takeover values ($1)', [id]);
      if (calls === 1) throw new Error('the first try fails');
    },
  });
  const dead = await world.insertDead();
  await expect.poll(world.listProcesses).toEqual([me.processId()]);
  expect(calls).toBe(2);
  expect(await world.db.query('test-taken', 'select process_id as id from takeover')).toEqual([{ id: dead }]);
});

test.concurrent('a process that was declared dead learns of it and goes on under a new id', async ({
  expect,
  onTestFinished,
}) => {
  const world = await openWorld(onTestFinished);
  const lost: string[] = [];
  const me = await world.live({ onDeclaredDead: async (id) => void lost.push(id) });
  const firstId = me.processId();
  await world.db.query('test-remove', 'delete from process where id = $1', [firstId]);
  await expect.poll(() => lost).toEqual([firstId]);
  await expect.poll(() => me.processId()).not.toBe(firstId);
  expect(await world.listProcesses()).toEqual([me.processId()]);
});

test.concurrent('a process that was declared dead keeps the word to drain under its new id', async ({
  expect,
  onTestFinished,
}) => {
  const world = await openWorld(onTestFinished);
  const drain = createDrain({ log, noticeMs: 0, invocations: () => 0 });
  const me = await world.live({ drain });
  await world.db.query('test-ask', 'update process set drain_asked_at = now() where id = $1', [me.processId()]);
  await expect.poll(drain.isRefusing).toBe(true);
  await world.db.query('test-remove', 'delete from process where id = $1', [me.processId()]);
  const asked = 'select drain_asked_at is not null as asked from process where id = $1';
  await expect.poll(() => world.db.query('test-asked', asked, [me.processId()])).toEqual([{ asked: true }]);
  expect(drain.isRefusing()).toBe(true);
});

test.concurrent('a process that stops hands over what it leaves and is gone at once', async ({
  expect,
  onTestFinished,
}) => {
  const world = await openWorld(onTestFinished);
  const handedOver: string[] = [];
  const me = await world.live({ onProcessDead: async (_tx, id) => void handedOver.push(id) });
  await me.stop();
  expect(handedOver).toEqual([me.processId()]);
  expect(await world.listProcesses()).toEqual([]);
});

test.concurrent('a living process is left alone', async ({ expect, onTestFinished }) => {
  const world = await openWorld(onTestFinished);
  const taken: string[] = [];
  const hooks = { onProcessDead: async (_tx: unknown, id: string) => void taken.push(id) };
  const [one, two] = await Promise.all([world.live(hooks), world.live(hooks)]);
  const dead = await world.insertDead();
  await expect.poll(() => taken).toEqual([dead]);
  // Told within the transaction that removes it.
  await expect.poll(world.listProcesses).toEqual([one.processId(), two.processId()].sort());
});
