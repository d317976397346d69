import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Database, openDatabase } from '../../src/db/database.ts';
import type { Sql } from '../../src/db/sql.ts';
import { silentLog as log } from '../../src/lib/log/log.ts';
import { createMetrics } from '../../src/lib/metrics.ts';
import { type AddJobOptions, addJob } from '../../src/queue/add-job.ts';
import { type HeartbeatHooks, startHeartbeat } from '../../src/queue/heartbeat.ts';
import type { JobHandlers, JobRun } from '../../src/queue/job-types.ts';
import { createQueueStanding } from '../../src/queue/queue-standing.ts';
import { startWorker } from '../../src/queue/worker.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

type TestHandlers = Record<string, (payload: { n: number }, run: JobRun) => Promise<void>>;
/** The catalogue of jobs belongs to the domains; these tests bring their own names. */
const add = addJob as unknown as (sql: Sql, name: string, payload: unknown, options?: AddJobOptions) => Promise<void>;

let testDatabase: TestDatabase;
let db: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  db = openDatabase(testDatabase.url, { log });
});
afterAll(async () => {
  await db.close();
  await testDatabase.drop();
});

async function startNode(handlers: TestHandlers, hooks: HeartbeatHooks = {}) {
  const heartbeat = await startHeartbeat({ db, log }, { self: { label: 'test' }, ...hooks });
  const worker = await startWorker(
    { db, log, heartbeat, queueStanding: createQueueStanding({ metrics: createMetrics() }) },
    handlers as unknown as JobHandlers,
    { concurrency: 4 },
  );
  let stopped = false;
  const stop = async (gracefulMs = 5_000) => {
    if (stopped) return;
    stopped = true;
    await worker.stop(gracefulMs);
    await heartbeat.stop();
  };
  onTestFinished(() => stop());
  return { heartbeat, stop };
}

/** Numbers in the order in which the jobs ran. */
function recorder() {
  const ran: number[] = [];
  const handlers: TestHandlers = {
    'test.record': async ({ n }) => {
      ran.push(n);
    },
  };
  return { ran, handlers };
}

test('a job of a rolled-back transaction never runs, one of a committed transaction runs within a second', async () => {
  const { ran, handlers } = recorder();
  await startNode(handlers);
  const undone = db.transaction(async (tx) => {
    await add(tx, 'test.record', { n: 1 });
    throw new Error('undo');
  });
  await expect(undone).rejects.toThrow('undo');
  await db.transaction((tx) => add(tx, 'test.record', { n: 2 }));
  await expect.poll(() => ran, { timeout: 1_000, interval: 5 }).toEqual([2]);
  await expect.poll(countJobs).toBe(0n);
  expect(ran).toEqual([2]);
});

test('an idle worker starts a new job within 20 ms of its commit', async () => {
  const waits: number[] = [];
  let started = Promise.withResolvers<void>();
  await startNode({ 'test.record': async () => started.resolve() });
  for (let i = 0; i < 20; i++) {
    started = Promise.withResolvers();
    await add(db, 'test.record', { n: i });
    const committedMs = performance.now();
    await started.promise;
    waits.push(performance.now() - committedMs);
  }
  const median = waits.sort((a, b) => a - b)[10];
  expect(median).toBeLessThan(20);
});

test('of the jobs that wait under one key only the last runs', async () => {
  const runAt = new Date(Date.now() + 3_600_000);
  await add(db, 'test.record', { n: 1 }, { jobKey: 'same', runAt });
  await add(db, 'test.record', { n: 2 }, { jobKey: 'same' });
  const { ran, handlers } = recorder();
  await startNode(handlers);
  await expect.poll(countJobs).toBe(0n);
  expect(ran).toEqual([2]);
});

test('a job that throws is run again', async () => {
  const attempts: number[] = [];
  const handler = async (_payload: unknown, { attempt }: JobRun) => {
    attempts.push(attempt);
    if (attempt === 1) throw new Error('not yet');
  };
  await startNode({ 'test.record': handler });
  await add(db, 'test.record', { n: 1 });
  await expect.poll(() => attempts, { timeout: 8_000 }).toEqual([1, 2]);
});

test('stopping waits for a running job', async () => {
  const entered = Promise.withResolvers<void>();
  const leave = Promise.withResolvers<void>();
  const node = await startNode({
    'test.record': async () => {
      entered.resolve();
      await leave.promise;
    },
  });
  await add(db, 'test.record', { n: 1 });
  await entered.promise;
  const stopping = node.stop();
  leave.resolve();
  await stopping;
  expect(await countJobs()).toBe(0n);
});

test('a job that does not end in the grace time is told so, and is given back to the queue', async () => {
  const entered = Promise.withResolvers<void>();
  let told = false;
  const node = await startNode({
    'test.record': async (_payload, { signal }) => {
      signal.addEventListener('abort', () => {
        told = true;
      });
      entered.resolve();
      await new Promise(() => undefined);
    },
  });
  await add(db, 'test.record', { n: 1 }, { jobKey: 'stuck' });
  await entered.promise;
  await node.stop(50);
  expect(told).toBe(true);
  const rows = await db.query('test-locked', 'select locked_by as "lockedBy" from graphile_worker.jobs');
  expect(rows).toEqual([{ lockedBy: null }]);
  await db.query('test-remove', 'select graphile_worker.remove_job($1)', ['stuck']);
});

test('the worker comes back after every connection was cut', async () => {
  const { ran, handlers } = recorder();
  await startNode(handlers);
  await db.pool.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );
  await add(db, 'test.record', { n: 1 }).catch(() => add(db, 'test.record', { n: 1 }));
  await expect.poll(() => ran, { timeout: 10_000 }).toEqual([1]);
});

test('the job of a SIGKILLed process runs again in another process within 15 s', { timeout: 40_000 }, async () => {
  const child = fork(join(import.meta.dirname, 'worker-child.ts'), [testDatabase.url], { stdio: 'inherit' });
  onTestFinished(() => void child.kill('SIGKILL'));
  await add(db, 'test.hang', {});
  const [{ processId }] = (await once(child, 'message')) as [{ processId: string }];
  const dead: string[] = [];
  const rerun = Promise.withResolvers<number>();
  await startNode(
    { 'test.hang': async (_payload, { attempt }) => rerun.resolve(attempt) },
    { onProcessDead: async (_tx, id) => void dead.push(id) },
  );
  child.kill('SIGKILL');
  const killedMs = performance.now();
  expect(await rerun.promise).toBe(2);
  expect(performance.now() - killedMs).toBeLessThan(15_000);
  expect(dead).toEqual([processId]);
});

async function countJobs(): Promise<bigint> {
  const [row] = await db.query<{ count: bigint }>('test-count-jobs', 'select count(*) from graphile_worker.jobs');
  return row?.count ?? -1n;
}
