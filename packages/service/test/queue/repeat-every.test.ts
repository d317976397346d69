import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { silentLog as log } from '../../src/lib/log/log.ts';
import { repeatEvery } from '../../src/queue/repeat-every.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

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

test('several processes share one rhythm: never two at once, never sooner than the interval', async () => {
  const startsMs: number[] = [];
  let running = 0;
  let mostAtOnce = 0;
  const work = async () => {
    startsMs.push(performance.now());
    running += 1;
    mostAtOnce = Math.max(mostAtOnce, running);
    await db.pool.query('select pg_sleep(0.03)');
    running -= 1;
  };
  const repeating = [1, 2, 3].map(() => repeatEvery({ db, log }, 'shared', 100, work));
  await expect.poll(() => startsMs.length, { timeout: 5_000 }).toBeGreaterThanOrEqual(6);
  await Promise.all(repeating.map((one) => one.stop()));
  const gapsMs = startsMs.slice(1).map((atMs, i) => atMs - (startsMs[i] ?? 0));
  expect(mostAtOnce).toBe(1);
  expect(Math.min(...gapsMs)).toBeGreaterThan(80);
});

test('a run longer than its interval is not overtaken', async () => {
  const release = Promise.withResolvers<void>();
  let runs = 0;
  const work = async () => {
    runs += 1;
    await release.promise;
  };
  const repeating = [1, 2].map(() => repeatEvery({ db, log }, 'long', 20, work));
  await expect.poll(() => runs).toBe(1);
  await db.pool.query('select pg_sleep(0.2)');
  expect(runs).toBe(1);
  release.resolve();
  await Promise.all(repeating.map((one) => one.stop()));
});

test('a run that throws does not end the repetition', async () => {
  let runs = 0;
  const repeating = repeatEvery({ db, log }, 'throws', 20, async () => {
    runs += 1;
    throw new Error('bad tick');
  });
  await expect.poll(() => runs).toBeGreaterThanOrEqual(3);
  await repeating.stop();
});
