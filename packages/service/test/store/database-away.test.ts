import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { silentLog as log } from '../../src/lib/telemetry/log.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { asAway, DatabaseAwayError } from '../../src/store/database-away.ts';
import { startDatabaseProxy } from '../support/database-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { startWatch } from '../support/watch.ts';

let testDatabase: TestDatabase;
let direct: Database;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  direct = openDatabase(testDatabase.url, { max: 2, log });
  await direct.pool.query('create table thing (id integer primary key)');
});
afterAll(async () => {
  await direct.close();
  await testDatabase.drop();
});
type Finishing = (stop: () => Promise<void>) => void;

async function openProxied(onTestFinished: Finishing, max = 3) {
  const proxy = await startDatabaseProxy(testDatabase.url);
  const db = openDatabase(proxy.url, { max, log });
  onTestFinished(async () => {
    await db.close();
    await proxy.stop();
  });
  return { proxy, db };
}

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => error,
  );
const things = async () =>
  (await direct.query<{ id: number }>('things', 'select id from thing order by id')).map(({ id }) => id);

test('a host that refuses connections at each of its addresses is away, for the reason of each', () => {
  const refused = (at: string) => Object.assign(new Error(`connect ECONNREFUSED ${at}`), { code: 'ECONNREFUSED' });
  // As Node has it for `localhost`.
  const failure = asAway(new AggregateError([refused('::1:5432'), refused('127.0.0.1:5432')]), 'nothing');
  expect(failure).toBeInstanceOf(DatabaseAwayError);
  expect(failure).toMatchObject({
    message: 'the database is away: connect ECONNREFUSED ::1:5432; connect ECONNREFUSED 127.0.0.1:5432',
  });
});

describe('a connection that is lost', () => {
  beforeEach(() => direct.query('empty', 'delete from thing'));

  test('before COMMIT was sent: the transaction runs again on another, and is done once', async ({
    onTestFinished,
  }) => {
    const { proxy, db } = await openProxied(onTestFinished);
    let runs = 0;
    await db.transaction(async (tx) => {
      runs += 1;
      await tx.query('insert', 'insert into thing (id) values ($1)', [1]);
      if (runs === 1) proxy.cut();
      await tx.query('insert', 'insert into thing (id) values ($1)', [2]);
    });
    expect(runs).toBe(2);
    expect(await things()).toEqual([1, 2]);
  });

  test('with the answer to COMMIT on its way: the outcome is unknown, and the transaction does not run again', async ({
    onTestFinished,
  }) => {
    const { proxy, db } = await openProxied(onTestFinished);
    proxy.rewrite((chunk) => {
      if (!chunk.includes('COMMIT')) return chunk;
      proxy.cut();
      return null;
    });
    let runs = 0;
    const heard: string[] = [];
    db.onCommit('thing', (message) => heard.push(message));
    const failure = await failureOf(
      db.transaction(async (tx) => {
        runs += 1;
        tx.afterCommit('thing', 'inserted');
        await tx.query('insert', 'insert into thing (id) values ($1)', [3]);
      }),
    );
    expect(failure).toBeInstanceOf(DatabaseAwayError);
    expect(failure).toMatchObject({ outcome: 'unknown', isBusy: false });
    expect(runs).toBe(1);
    expect(heard).toEqual([]);
    expect(await things()).toEqual([3]);
  });

  test('in a flush: the outcome is unknown, whether its COMMIT has arrived or not, and it does not run again', async ({
    onTestFinished,
  }) => {
    const { proxy, db } = await openProxied(onTestFinished);
    const insert = (id: number) => ({ name: 'insert', text: 'insert into thing (id) values ($1)', params: [id] });
    await db.flush([insert(5)]);
    proxy.rewrite((chunk) => {
      if (!chunk.includes('COMMIT')) return chunk;
      proxy.cut();
      return null;
    });
    expect(await failureOf(db.flush([insert(6)]))).toMatchObject({ outcome: 'unknown', isBusy: false });
    expect(await things()).toEqual([5, 6]);
    proxy.rewrite(null);
    await db.query('one', 'select 1');
    proxy.set('silent');
    const unheard = failureOf(db.flush([insert(7)]));
    proxy.cut();
    expect(await unheard).toMatchObject({ outcome: 'unknown', isBusy: false });
    expect(await things()).toEqual([5, 6]);
  });

  test('none to be had: nothing was done', async ({ onTestFinished }) => {
    const { proxy, db } = await openProxied(onTestFinished);
    proxy.set('refusing');
    expect(await failureOf(db.query('one', 'select 1'))).toMatchObject({
      name: 'DatabaseAwayError',
      outcome: 'nothing',
    });
    const inTransaction = failureOf(db.transaction((tx) => tx.query('one', 'select 1')));
    expect(await inTransaction).toMatchObject({ name: 'DatabaseAwayError', outcome: 'nothing' });
  });

  test('a lock that is not to be had is no lost connection: busy, and nothing was done', async ({ onTestFinished }) => {
    const held = Promise.withResolvers<void>();
    const letGo = Promise.withResolvers<void>();
    const holding = direct.transaction(async (tx) => {
      await tx.query('lock', 'lock table thing');
      held.resolve();
      await letGo.promise;
    });
    await held.promise;
    const { db } = await openProxied(onTestFinished);
    const failure = await failureOf(
      db.transaction(async (tx) => {
        await tx.query('impatient', `select set_config('lock_timeout', '20ms', true)`);
        await tx.query('insert', 'insert into thing (id) values ($1)', [4]);
      }),
    );
    letGo.resolve();
    await holding;
    expect(failure).toMatchObject({ name: 'DatabaseAwayError', outcome: 'nothing', isBusy: true });
  });
});

/** Each waits for time-outs in real time, on a proxy and a pool of its own. */
describe.concurrent('a database host that vanishes without a word', () => {
  test('statements on open connections end within 12 s, and new ones run within 5 s of its return', async ({
    expect,
    onTestFinished,
  }) => {
    const { proxy, db } = await openProxied(onTestFinished, 3);
    await Promise.all([1, 2, 3].map((n) => db.query(`warm-${n}`, 'select pg_sleep(0.05)')));
    expect(proxy.connections()).toBe(3);
    proxy.set('silent');
    const tookMs = startWatch();
    const hanging = [1, 2, 3].map((n) => failureOf(db.query('hang', 'insert into thing (id) values ($1)', [n])));
    for (const failure of await Promise.all(hanging))
      expect(failure).toMatchObject({ name: 'DatabaseAwayError', outcome: 'unknown' });
    expect(tookMs()).toBeLessThan(12_000);
    const again = [4, 5, 6].map((n) => failureOf(db.query('hang', 'insert into thing (id) values ($1)', [n])));
    proxy.set('open');
    const backMs = startWatch();
    await expect.poll(() => db.query('alive', 'select 1 as one').catch(() => null)).toEqual([{ one: 1 }]);
    expect(backMs()).toBeLessThan(5_500);
    await Promise.all(again);
  });

  test('one that comes back without its connections is asked about them: they are replaced within 6 s', async ({
    expect,
    onTestFinished,
  }) => {
    const { proxy, db } = await openProxied(onTestFinished, 3);
    await Promise.all([1, 2, 3].map((n) => db.query(`warm-${n}`, 'select pg_sleep(0.05)')));
    proxy.set('silent');
    proxy.set('open');
    const tookMs = startWatch();
    await Promise.all([1, 2, 3].map((n) => failureOf(db.query('hang', 'insert into thing (id) values ($1)', [n]))));
    expect(await db.query('alive', 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(tookMs()).toBeLessThan(6_000);
  });

  test('what the lost side of a transaction has locked is free again', async ({ expect, onTestFinished }) => {
    const { proxy, db } = await openProxied(onTestFinished, 1);
    await direct.query('empty-of-this', 'delete from thing where id > 10');
    await direct.query('first', 'insert into thing (id) values (11)');
    const failure = await failureOf(
      db.transaction(async (tx) => {
        await tx.query('lock-one', 'select from thing where id = 11 for update');
        proxy.set('silent');
        proxy.set('open');
        await tx.query('lost', 'update thing set id = 12 where id = 11');
      }),
    );
    expect(failure).toMatchObject({ name: 'DatabaseAwayError', outcome: 'nothing' });
    const tookMs = startWatch();
    await direct.query('other', 'update thing set id = 13 where id = 11');
    expect(tookMs()).toBeLessThan(2_000);
  });

  test('a statement that takes long on a server that lives is left alone', async ({ expect, onTestFinished }) => {
    const { db } = await openProxied(onTestFinished, 1);
    expect(await db.query('long', `select 'done' as it from pg_sleep(8)`)).toEqual([{ it: 'done' }]);
  });
});
