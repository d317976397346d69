import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLog } from '../../src/lib/telemetry/log.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { asRead } from '../../src/store/read-reserve.ts';
import type { Statement, Tx } from '../../src/store/sql.ts';
import { GuardError } from '../../src/store/transaction.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

let testDatabase: TestDatabase;
let db: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  db = openDatabase(testDatabase.url, { log: silentLog });
  await db.pool.query('create table thing (id integer primary key, amount bigint not null default 0)');
});
afterAll(async () => {
  await db.close();
  await testDatabase.drop();
});

describe('values', () => {
  test('int8 is bigint, int8[] too, numeric is text, timestamptz is Date', async () => {
    const [row] = await db.query(
      'test-values',
      `select 9007199254740993::int8 as a, array[1, null]::int8[] as b, 1.50::numeric as c, 'epoch'::timestamptz as d`,
    );
    expect(row).toEqual({ a: 9007199254740993n, b: [1n, null], c: '1.50', d: new Date(0) });
  });

  test('statements without limits of their own are limited by the server', async () => {
    const [row] = await db.query(
      'test-limits',
      `select current_setting('statement_timeout') s, current_setting('lock_timeout') l,
              current_setting('idle_in_transaction_session_timeout') i`,
    );
    expect(row).toEqual({ s: '30s', l: '10s', i: '10s' });
  });
});

test('reads take the reserve first, then what is free of the rest, and wait for the reserve', async () => {
  const small = openDatabase(testDatabase.url, { max: 1, readReserve: 1, log: silentLog });
  const held = Promise.withResolvers<void>();
  const hold = (tx: Tx) => tx.query('test-hold', 'select 1').then(() => held.promise);
  try {
    const reads = [asRead(() => small.transaction(hold)), asRead(() => small.transaction(hold))];
    await expect.poll(() => small.pool.totalCount - small.pool.idleCount).toBe(1);
    const waiting = [
      small.query('test-write', 'select 1 as one'),
      asRead(() => small.query('test-read', 'select 2 as one')),
    ];
    await expect.poll(() => small.queueAgeMs()).toBeGreaterThan(0);
    expect(small.pool.waitingCount).toBe(1);
    held.resolve();
    expect(await Promise.all(waiting)).toEqual([[{ one: 1 }], [{ one: 2 }]]);
    await Promise.all(reads);
  } finally {
    held.resolve();
    await small.close();
  }
});

describe('transaction', () => {
  test('what a failed function did is undone, and its error comes through', async () => {
    const work = db.transaction(async (tx) => {
      await tx.query('test-insert', 'insert into thing (id) values ($1)', [1]);
      throw new Error('changed my mind');
    });
    await expect(work).rejects.toThrow('changed my mind');
    expect(await countThings(1)).toBe(0n);
  });

  test('a swallowed statement error is not taken for a commit', async () => {
    const work = db.transaction(async (tx) => {
      await tx.query('test-insert', 'insert into thing (id) values ($1)', [2]);
      await tx.query('test-division', 'select 1 / 0').catch(() => undefined);
    });
    await expect(work).rejects.toThrow('rolled back');
    expect(await countThings(2)).toBe(0n);
  });

  test('statements sent together run in their order, and one that fails undoes them all', async () => {
    const insert = (tx: Tx, id: number) => tx.query('test-insert', 'insert into thing (id) values ($1)', [id]);
    const count = (tx: Tx) =>
      tx.query<{ n: bigint }>('test-count-two', 'select count(*) as n from thing where id in (3, 4)');
    const counts = await db.transaction((tx) =>
      Promise.all([count(tx), insert(tx, 3), count(tx), insert(tx, 4), count(tx)]),
    );
    expect([counts[0], counts[2], counts[4]]).toEqual([[{ n: 0n }], [{ n: 1n }], [{ n: 2n }]]);
    const work = db.transaction((tx) => Promise.all([insert(tx, 5), insert(tx, 3), insert(tx, 6)]));
    await expect(work).rejects.toMatchObject({ code: '23505' });
    expect([await countThings(5), await countThings(6)]).toEqual([0n, 0n]);
  });

  test('two serializable transactions that clash both succeed, one after another', async () => {
    await db.pool.query('insert into thing (id) values (10)');
    let bothRead = 0;
    const increment = () =>
      db.transaction(
        async (tx) => {
          const [row] = await tx.query<{ amount: bigint }>('test-read', 'select amount from thing where id = 10');
          bothRead += 1;
          while (bothRead < 2) await new Promise((resolve) => setImmediate(resolve));
          await tx.query('test-write', 'update thing set amount = $1 where id = 10', [(row?.amount ?? 0n) + 1n]);
        },
        { isolation: 'serializable' },
      );
    await Promise.all([increment(), increment()]);
    expect(bothRead).toBe(3);
    const [row] = await db.query('test-read-after', 'select amount from thing where id = 10');
    expect(row).toEqual({ amount: 2n });
  });

  test('a deadlock is retried until both sides are done', async () => {
    await db.pool.query('insert into thing (id) values (20), (21)');
    let locked = 0;
    const touch = (first: number, second: number) =>
      db.transaction(async (tx) => {
        await tx.query('test-touch', 'update thing set amount = amount + 1 where id = $1', [first]);
        locked += 1;
        while (locked < 2) await new Promise((resolve) => setImmediate(resolve));
        await tx.query('test-touch', 'update thing set amount = amount + 1 where id = $1', [second]);
      });
    await Promise.all([touch(20, 21), touch(21, 20)]);
    const rows = await db.query('test-touched', 'select amount from thing where id in (20, 21)');
    expect(rows).toEqual([{ amount: 2n }, { amount: 2n }]);
  });

  test('an error of another kind is not retried', async () => {
    let calls = 0;
    const work = db.transaction(async (tx) => {
      calls += 1;
      await tx.query('test-division', 'select 1 / 0');
    });
    await expect(work).rejects.toThrow('division by zero');
    expect(calls).toBe(1);
  });

  test('what it says after its commit is heard once, though it ran twice, and not if it was undone', async () => {
    const heard: string[] = [];
    const ignore = db.onCommit('thing', (message) => heard.push(message));
    let runs = 0;
    await db.transaction(async (tx) => {
      runs += 1;
      tx.afterCommit('thing', `run ${runs}`);
      if (runs === 1) await tx.query('test-clash', `do $$ begin raise sqlstate '40001'; end $$`);
      expect(heard).toEqual([]);
    });
    expect(heard).toEqual(['run 2']);
    const undone = db.transaction(async (tx) => {
      tx.afterCommit('thing', 'undone');
      throw new Error('undo');
    });
    await expect(undone).rejects.toThrow('undo');
    ignore();
    await db.transaction(async (tx) => tx.afterCommit('thing', 'too late'));
    expect(heard).toEqual(['run 2']);
  });

  test('a transaction inside a transaction is refused', async () => {
    await expect(db.transaction(() => db.transaction(async () => 1))).rejects.toThrow('inside a transaction');
  });

  test('work that a transaction left behind may open its own', async () => {
    const later = await db.transaction(async () => {
      const gate = Promise.withResolvers<void>();
      return { open: gate.resolve, result: gate.promise.then(() => db.transaction(async () => 'fine')) };
    });
    later.open();
    expect(await later.result).toBe('fine');
  });

  test('a handle is refused once its transaction is over', async () => {
    const { tx } = await db.transaction(async (inner) => ({ tx: inner }));
    await expect(tx.query('test-late', 'select 1')).rejects.toThrow('after its end');
  });
});

describe('flush', () => {
  const insert = (id: unknown) => ({
    ...{ name: 'test-insert', text: 'insert into thing (id) values ($1)', params: [id] },
  });
  const guard = (holds: boolean) => ({ name: 'test-guard', text: 'select require_true($1)', params: [holds] });

  test('statements run in their order and are committed together', async () => {
    const count: Statement<{ n: bigint }> = {
      ...{ name: 'test-count-flushed', text: 'select count(*) as n from thing where id in (40, 41)', params: [] },
    };
    const done = await db.flush([insert(40), count, insert(41), guard(true)]);
    expect(done.rowsOf(count)).toEqual([{ n: 1n }]);
    expect([await countThings(40), await countThings(41)]).toEqual([1n, 1n]);
  });

  test('one that fails, a guard that does not hold, and a value that cannot be sent undo all of it', async () => {
    await expect(db.flush([insert(42), insert(40), insert(43)])).rejects.toMatchObject({ code: '23505' });
    await expect(db.flush([insert(42), guard(false), insert(43)])).rejects.toThrow(GuardError);
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    for (const value of [circular, {}, [Symbol('no')]])
      await expect((async () => db.flush([insert(42), insert(value)]))()).rejects.toThrow('cannot be sent');
    const otherText = { ...insert(43), text: 'insert into thing (id) values ($1::integer)' };
    await expect((async () => db.flush([insert(42), otherText]))()).rejects.toThrow('two texts');
    expect([await countThings(42), await countThings(43)]).toEqual([0n, 0n]);
    await db.flush([insert(42), insert(43)]);
    expect([await countThings(42), await countThings(43)]).toEqual([1n, 1n]);
  });

  test('the limit of a lock counts for its statements, and for none after it', async () => {
    const [held, letGo] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const holding = db.transaction(async (tx) => {
      await tx.query('test-lock', 'select id from thing where id = 40 for update');
      held.resolve();
      await letGo.promise;
    });
    await held.promise;
    const touch = { name: 'test-touch-40', text: 'update thing set amount = amount + 1 where id = 40', params: [] };
    const busy = { name: 'DatabaseAwayError', outcome: 'nothing', isBusy: true };
    await expect(db.flush([touch], { lockTimeoutMs: 20 })).rejects.toMatchObject(busy);
    letGo.resolve();
    await holding;
    const limit: Statement<{ limit: string }> = {
      ...{ name: 'test-lock-limit', text: `select current_setting('lock_timeout') as limit`, params: [] },
    };
    expect((await db.flush([touch, limit])).rowsOf(limit)).toEqual([{ limit: '10s' }]);
  });

  test('after a serialization failure it runs again', async () => {
    await db.pool.query('create sequence test_tries');
    const clash = {
      name: 'test-clash-once',
      text: `do $$ begin if nextval('test_tries') = 1 then raise sqlstate '40001'; end if; end $$`,
      params: [],
    };
    await db.flush([insert(44), clash]);
    expect(await countThings(44)).toBe(1n);
  });

  test('a flush inside a transaction is refused', async () => {
    await expect(db.transaction(() => db.flush([insert(45)]))).rejects.toThrow('inside a transaction');
    expect(await countThings(45)).toBe(0n);
  });
});

describe('lost connections', () => {
  const killOthers = `select pg_terminate_backend(pid) from pg_stat_activity
                       where datname = current_database() and pid <> pg_backend_pid()`;

  test('the pool outlives a cut of every connection', async () => {
    await Promise.all([db.pool.query('select pg_sleep(0.01)'), db.pool.query('select pg_sleep(0.01)')]);
    await db.pool.query(killOthers);
    await expect.poll(() => db.query('test-alive', 'select 1 as one').catch(() => 'lost')).toEqual([{ one: 1 }]);
  });

  test('a listener hears, reconnects, says that it may have missed something, and hears again', async () => {
    const heard: (string | null)[] = [];
    const listening = await db.listen('test_channel', (payload) => heard.push(payload));
    await db.pool.query(`select pg_notify('test_channel', 'first')`);
    await expect.poll(() => heard).toEqual(['first']);
    await db.pool.query(killOthers);
    await expect.poll(() => heard).toEqual(['first', null]);
    await db.query('test-notify', `select pg_notify('test_channel', 'second')`);
    await expect.poll(() => heard).toEqual(['first', null, 'second']);
    await listening.stop();
  });
});

async function countThings(id: number): Promise<bigint> {
  const [row] = await db.query<{ count: bigint }>('test-count', 'select count(*) from thing where id = $1', [id]);
  return row?.count ?? -1n;
}
