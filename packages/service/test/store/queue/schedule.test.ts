import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createMetrics } from '../../../src/lib/metrics.ts';
import { silentLog as log } from '../../../src/lib/telemetry/log.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import { createSchedule, type RecurringWork, type Repeating } from '../../../src/store/queue/schedule.ts';
import type { Sql } from '../../../src/store/sql.ts';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts';
import { countStalls, startWatch } from '../../support/watch.ts';

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

const metrics = createMetrics();
const given = () => ({ now: new Date(), chainId: 1, token: '' });

/** A process of its own with one recurring job. */
function repeatEvery(name: string, intervalMs: number, work: RecurringWork): Repeating {
  const schedule = createSchedule({ db, log, metrics }, given);
  schedule.every(name, intervalMs, work);
  return schedule;
}

test('several processes share one rhythm: never two at once, never sooner than the interval', async () => {
  const startsMs: number[] = [];
  const stalls = countStalls();
  let running = 0;
  let mostAtOnce = 0;
  const work = async () => {
    startsMs.push(performance.now());
    running += 1;
    mostAtOnce = Math.max(mostAtOnce, running);
    await db.pool.query('select pg_sleep(0.03)');
    running -= 1;
  };
  const repeating = [1, 2, 3].map(() => repeatEvery('shared', 100, work));
  await expect.poll(() => startsMs.length).toBeGreaterThanOrEqual(6);
  await Promise.all(repeating.map((one) => one.stop()));
  const gapsMs = startsMs.slice(1).map((atMs, i) => atMs - (startsMs[i] ?? 0));
  expect(mostAtOnce).toBe(1);
  // A start may be noted late, and the next one not.
  expect(Math.min(...gapsMs) + stalls()).toBeGreaterThan(80);
});

test('a run longer than its interval is not overtaken', async () => {
  const release = Promise.withResolvers<void>();
  let runs = 0;
  const work = async () => {
    runs += 1;
    await release.promise;
  };
  const repeating = [1, 2].map(() => repeatEvery('long', 20, work));
  await expect.poll(() => runs).toBe(1);
  await db.pool.query('select pg_sleep(0.2)');
  expect(runs).toBe(1);
  release.resolve();
  await Promise.all(repeating.map((one) => one.stop()));
});

test('work whose time was set by a clock that was put back is not left waiting for it; a hold is', async () => {
  await db.query(
    '',
    `insert into recurring (name, due_at) values ('from-the-future', now() + interval '1 day'), ('held', now() + interval '10 seconds')
     on conflict (name) do update set due_at = excluded.due_at`,
  );
  const ran: string[] = [];
  const schedule = createSchedule({ db, log, metrics }, given);
  for (const name of ['from-the-future', 'held']) schedule.every(name, 20, async () => ran.push(name));
  await expect.poll(() => ran.length).toBeGreaterThanOrEqual(3);
  await schedule.stop();
  expect(new Set(ran)).toEqual(new Set(['from-the-future']));
});

test('a run that throws does not end the repetition, and is counted; what never failed is there at 0', async () => {
  let runs = 0;
  const well = repeatEvery('well', 20, async () => undefined);
  const repeating = repeatEvery('throws', 20, async () => {
    runs += 1;
    throw new Error('bad tick');
  });
  await expect.poll(() => runs).toBeGreaterThanOrEqual(3);
  await Promise.all([repeating.stop(), well.stop()]);
  const { values } = await metrics.recurringFailures.get();
  expect(values).toContainEqual({ labels: { name: 'throws' }, value: runs });
  expect(values).toContainEqual({ labels: { name: 'well' }, value: 0 });
});

/** The database, with the names of the statements that are made by themselves. */
function counted() {
  const names: string[] = [];
  const query: Sql['query'] = (name, text, params) => {
    names.push(name);
    return db.query(name, text, params);
  };
  return { db: { ...db, query }, count: (name: string) => names.filter((each) => each === name).length };
}

test('jobs that are due at the same time share their statements', async () => {
  const { db: shared, count } = counted();
  const schedule = createSchedule({ db: shared, log, metrics }, given);
  const runs = [0, 0, 0, 0, 0];
  for (const index of runs.keys())
    schedule.every(`shared-${index}`, 200, async () => {
      runs[index] = (runs[index] ?? 0) + 1;
    });
  await expect.poll(() => Math.min(...runs)).toBeGreaterThanOrEqual(4);
  await schedule.stop();
  const sum = runs.reduce((all, each) => all + each, 0);
  expect(count('recurring-claim')).toBeLessThan(sum / 2);
  expect(count('recurring-give-back')).toBeLessThan(sum / 2);
});

test('work that has nothing to do is neither claimed nor run, and is as soon as it has', async () => {
  const { db: shared, count } = counted();
  await db.query('test-table', 'create table thing (due_at timestamptz not null)');
  const schedule = createSchedule({ db: shared, log, metrics }, given);
  const ran = { everywhere: 0, here: 0, alone: 0 };
  let isDue = false;
  const sql = '(select min(due_at) from thing) <= given.now';
  schedule.every('everywhere', 20, async () => void ran.everywhere++, { hasWork: { sql } });
  schedule.here('here', 20, async () => void ran.here++, { hasWork: { sql } });
  schedule.here('alone', 20, async () => void ran.alone++, { hasWork: { isDue: () => isDue } });
  await expect.poll(() => count('due-work')).toBeGreaterThanOrEqual(5);
  expect([ran, count('recurring-claim')]).toEqual([{ everywhere: 0, here: 0, alone: 0 }, 0]);
  await db.query('test-due', `insert into thing values (now() - interval '1 minute')`);
  isDue = true;
  await expect.poll(() => Math.min(...Object.values(ran))).toBeGreaterThanOrEqual(2);
  await schedule.stop();
});

test('a condition that hangs or fails does not delay other work, and its own work runs', async () => {
  await db.query('test-locked', 'create table locked_thing ()');
  const runs = { locked: 0, failing: 0, silent: 0, other: 0 };
  await db.transaction(async (tx) => {
    await tx.query('test-lock', 'lock locked_thing');
    const schedule = createSchedule({ db, log, metrics }, given);
    onTestFinished(() => schedule.stop());
    schedule.here('locked', 50, async () => void runs.locked++, {
      hasWork: { sql: 'exists (select from locked_thing)' },
    });
    schedule.here('silent', 50, async () => void runs.silent++, {
      hasWork: { isDue: () => new Promise(() => undefined) },
    });
    schedule.here('failing', 50, async () => void runs.failing++, {
      hasWork: { isDue: () => Promise.reject(new Error()) },
    });
    schedule.every('other', 50, async () => void runs.other++);
    await expect.poll(() => Math.min(...Object.values(runs))).toBeGreaterThanOrEqual(3);
  });
});

test('a job whose first run may wait is not claimed on a new database', async () => {
  const { db: shared, count } = counted();
  const schedule = createSchedule({ db: shared, log, metrics }, given);
  let runs = 0;
  schedule.every('later', 600, async () => void runs++, { isFirstLater: true });
  await expect.poll(() => count('recurring-claim')).toBe(1);
  expect(runs).toBe(0);
  const [row] = await db.query<{ ms: number }>(
    'test-later',
    `select extract(epoch from due_at - now())::float8 * 1000 as ms from recurring where name = 'later'`,
  );
  expect(row?.ms).toBeGreaterThan(0);
  await expect.poll(() => runs).toBe(1);
  await schedule.stop();
});

test('the work of a process that stopped is due for another after its interval, not after its hold', async () => {
  let first = 0;
  let second = 0;
  const one = repeatEvery('handed-over', 300, async () => void first++);
  await expect.poll(() => first).toBeGreaterThanOrEqual(1);
  await one.stop();
  const tookMs = startWatch();
  const other = repeatEvery('handed-over', 300, async () => void second++);
  await expect.poll(() => second, { interval: 10 }).toBeGreaterThanOrEqual(1);
  expect(tookMs()).toBeLessThan(5_000);
  await other.stop();
});
