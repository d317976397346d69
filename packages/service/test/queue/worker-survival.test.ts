import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Database, openDatabase } from '../../src/db/database.ts';
import type { Sql } from '../../src/db/sql.ts';
import { silentLog as log } from '../../src/lib/log/log.ts';
import { createMetrics } from '../../src/lib/metrics.ts';
import { addJob } from '../../src/queue/add-job.ts';
import { startHeartbeat } from '../../src/queue/heartbeat.ts';
import type { JobHandlers } from '../../src/queue/job-types.ts';
import { createQueueStanding, type QueueStanding } from '../../src/queue/queue-standing.ts';
import { startWorker } from '../../src/queue/worker.ts';
import { type DatabaseProxy, startDatabaseProxy } from '../support/database-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

const add = addJob as unknown as (sql: Sql, name: string, payload: unknown) => Promise<void>;
const CONCURRENCY = 4;

let testDatabase: TestDatabase;
let direct: Database;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  direct = openDatabase(testDatabase.url, { log });
});
afterAll(async () => {
  await direct.close();
  await testDatabase.drop();
});

/** A process whose way to the database goes through a proxy, and jobs that wait until they are let go. */
async function startProcess(): Promise<{
  proxy: DatabaseProxy;
  started: number[];
  ended: number[];
  letGo: (n: number) => void;
  queueStanding: QueueStanding;
  metrics: ReturnType<typeof createMetrics>;
}> {
  const proxy = await startDatabaseProxy(testDatabase.url);
  const db = openDatabase(proxy.url, { log });
  const metrics = createMetrics();
  const queueStanding = createQueueStanding({ metrics });
  const heartbeat = await startHeartbeat({ db, log }, { self: { label: 'test' } });
  const gates = Array.from({ length: 5 }, () => Promise.withResolvers<void>());
  const started: number[] = [];
  const ended: number[] = [];
  const handlers = {
    'test.gated': async ({ n }: { n: number }) => {
      started.push(n);
      await gates[n]?.promise;
      ended.push(n);
    },
  } as unknown as JobHandlers;
  const worker = await startWorker({ db, log, heartbeat, queueStanding }, handlers, { concurrency: CONCURRENCY });
  onTestFinished(async () => {
    proxy.set('open');
    for (const gate of gates) gate.resolve();
    await worker.stop(1000);
    await heartbeat.stop();
    await db.close();
    await proxy.stop();
  });
  return { proxy, started, ended, letGo: (n) => gates[n]?.resolve(), queueStanding, metrics };
}

const countJobs = async () =>
  (await direct.query<{ n: number }>('count-jobs', 'select count(*)::int as n from graphile_worker.jobs'))[0]?.n;

test('jobs go on after their connection was cut while several of them ended', { timeout: 40_000 }, async () => {
  const { proxy, started, ended, letGo, queueStanding, metrics } = await startProcess();
  for (const n of [1, 2, 3, 4]) await add(direct, 'test.gated', { n });
  await expect.poll(() => started.length, { timeout: 10_000 }).toBe(4);
  proxy.set('refusing');
  proxy.cut();
  // Three fail to report their end, one after the other, while the fourth still runs.
  for (const n of [1, 2, 3]) {
    const before = proxy.refusals();
    letGo(n);
    await expect.poll(() => ended).toContain(n);
    await expect.poll(() => proxy.refusals()).toBeGreaterThan(before);
  }
  await add(direct, 'test.gated', { n: 5 });
  proxy.set('open');
  await expect.poll(() => ended, { timeout: 15_000 }).toContain(5);
  letGo(4);
  await expect.poll(countJobs, { timeout: 15_000 }).toBe(0);
  expect(queueStanding.read().isRunning).toBe(true);
  expect((await metrics.exposition('text')).text).toMatch(/queue_worker_restarts_total [1-9]/);
});
