import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../../src/store/database.ts';
import { forgetChanges } from '../../../src/store/replica/change-store.ts';
import { MAX_AGE_MS } from '../../../src/store/replica/replica.ts';
import { startWatch } from '../../support/watch.ts';
import { openThings, type Things } from './support/things.ts';

let things: Things;
beforeAll(async () => {
  things = await openThings();
});
afterAll(() => things.stop());
beforeEach(async () => {
  await things.db.pool.query('delete from thing; delete from process');
});

const STRICT = { maxAgeMs: 0 };

test('the copies are the table of one snapshot after every refresh, whatever commits, rolls back or takes long', async () => {
  const { replica, copies, truth, loads } = await things.follow(STRICT);
  let isOver = false;
  const random = (below: number) => Math.floor(Math.random() * below);
  const change = async (writer: number) => {
    const ids = [...new Set([0, 1, 2].map(() => `thing-${random(40)}`))].sort();
    const work = things.db.transaction(async (tx) => {
      for (const id of ids) {
        if (random(4) === 0) await tx.query('test-delete', 'delete from thing where id = $1', [id]);
        else await things.set(id, random(1000), tx);
        // A long transaction, beside many that begin and end meanwhile.
        if (writer === 0) await tx.query('test-sleep', 'select pg_sleep(0.05)');
      }
      if (random(4) === 0) throw new Error('changed my mind');
    });
    await work.catch((error: Error) => expect(error.message).toBe('changed my mind'));
  };
  const writing = [0, 1, 2, 3, 4].map(async (writer) => {
    while (!isOver) await change(writer);
  });
  const differences: unknown[] = [];
  for (let refresh = 0; refresh < 150; refresh++) {
    await replica.fresh();
    if (!isSame(copies, truth())) differences.push([refresh, [...copies], [...truth()]]);
  }
  isOver = true;
  await Promise.all(writing);
  await replica.fresh();
  expect(differences).toEqual([]);
  const { rows } = await things.db.pool.query<{ id: string; value: number }>('select id, value from thing order by id');
  expect([...copies].sort()).toEqual(rows.map(({ id, value }) => [id, value]));
  expect(loads()).toBe(1);
});

const isSame = (one: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>) =>
  one.size === other.size && [...one].every(([id, value]) => other.get(id) === value);

test('a settled write is seen by every process that is asked after it, 1,000 times', async () => {
  // Longer than a write takes: without the wait, the other process answers from before it.
  const lease = { maxAgeMs: 80 };
  const processes = await Promise.all([things.follow(lease), things.follow(lease)]);
  for (const _ of processes)
    await things.db.pool.query(`insert into process (id, label) values ($1, 'test')`, [randomUUID()]);
  const unseen: string[] = [];
  const writer = async (first: number) => {
    for (let each = 0; each < 20; each++) {
      const id = `thing-${first}-${each}`;
      const [own, other] = each % 2 === 0 ? processes : processes.toReversed();
      if (!other?.replica.isFresh()) await other?.replica.fresh();
      await things.set(id, each);
      await own?.replica.settleWrite();
      for (const asked of [own, other]) {
        if (!asked?.replica.isFresh()) await asked?.replica.fresh();
        if (asked?.copies.get(id) !== each) unseen.push(id);
      }
    }
  };
  await Promise.all(Array.from({ length: 50 }, (_, first) => writer(first)));
  expect(unseen).toEqual([]);
});

test('a write waits for the age limit of the others, and for one refresh without others', async () => {
  const { replica } = await things.follow({ maxAgeMs: 5000 });
  await replica.settleWrite();
  const tookMs = startWatch();
  await replica.settleWrite();
  expect(tookMs()).toBeLessThan(4000);
  for (const _ of [1, 2])
    await things.db.pool.query(`insert into process (id, label) values ($1, 'test')`, [randomUUID()]);
  const short = await things.follow({ maxAgeMs: 200 });
  const startMs = performance.now();
  await short.replica.settleWrite();
  expect(performance.now() - startMs).toBeGreaterThanOrEqual(200);
});

/** A process whose statements wait while its gate is closed: one that is stopped, or cut from the database. */
function gated(db: Database) {
  let gate = Promise.withResolvers<void>();
  gate.resolve();
  const waiting =
    <A extends unknown[], T>(call: (...args: A) => Promise<T>) =>
    async (...args: A) => {
      await gate.promise;
      return call(...args);
    };
  return {
    db: { ...db, query: waiting(db.query), transaction: waiting(db.transaction) } as Database,
    close: () => {
      gate = Promise.withResolvers();
    },
    open: () => gate.resolve(),
  };
}

test('a process that is cut off answers nothing from old copies, and catches up without a gap', async () => {
  const gate = gated(things.db);
  const { replica, copies, truth, loads } = await things.follow({ maxAgeMs: 20, patienceMs: 50, db: gate.db });
  gate.close();
  await things.set('first', 1);
  await new Promise((resolve) => setTimeout(resolve, MAX_AGE_MS + 1));
  expect(replica.isFresh()).toBe(false);
  await expect(replica.fresh()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  // Refused at once, while the refresh before still hangs.
  await expect(replica.fresh()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  const tookMs = startWatch();
  await replica.settleWrite();
  expect(tookMs()).toBeLessThan(1000);
  await things.set('second', 2);
  gate.open();
  await expect
    .poll(() =>
      replica.fresh().then(
        () => copies.size,
        () => 0,
      ),
    )
    .toBe(2);
  expect(isSame(copies, truth())).toBe(true);
  expect(loads()).toBe(1);
});

test('a process that slept until changes were deleted reloads; one that saw them does not', async () => {
  const gate = gated(things.db);
  const asleep = await things.follow({ ...STRICT, db: gate.db });
  const awake = await things.follow(STRICT);
  gate.close();
  await things.set('changed', 1);
  await awake.replica.fresh();
  expect(await forgetChanges(things.db, 60_000, 100)).toBe(0);
  await expect.poll(() => forgetChanges(things.db, 0, 100_000)).toBeGreaterThan(0);
  const { rows } = await things.db.pool.query('select from replica_change');
  expect(rows).toEqual([]);
  gate.open();
  await asleep.replica.fresh();
  await awake.replica.fresh();
  for (const { copies, truth } of [asleep, awake]) {
    expect([...copies]).toEqual([['changed', 1]]);
    expect(isSame(copies, truth())).toBe(true);
  }
  expect([asleep.loads(), awake.loads()]).toEqual([2, 1]);
});

test('a change of a transaction that is open while changes are forgotten is kept', async () => {
  const { replica, copies, loads } = await things.follow(STRICT);
  await things.db.transaction(async (tx) => {
    await things.set('slow', 1, tx);
    await things.set('quick', 2);
    await forgetChanges(things.db, 0, 100_000);
    await replica.fresh();
  });
  await replica.fresh();
  expect([...copies].sort()).toEqual([
    ['quick', 2],
    ['slow', 1],
  ]);
  expect(loads()).toBe(1);
});

test('changes in a restored dump with later transaction ids are deleted, and hide nothing', async () => {
  await things.db.pool.query(`insert into replica_change (xid, topic, id) values ('900000000000', 'agent', 'restored');
    update replica_forgotten set xid = '900000000000'`);
  const { replica, copies, loads } = await things.follow(STRICT);
  await things.set('new', 1);
  await replica.fresh();
  expect([...copies]).toEqual([['new', 1]]);
  expect(loads()).toBe(1);
});

test('the position never goes back, even where the server finds an earlier one', async () => {
  // A transaction of another database that ends while the server looks at it counts as one of this database.
  let isEarlier = false;
  const earlier = (rows: unknown[]) =>
    rows.map((row) => ({ ...(row as object), ...(isEarlier ? { horizon: '1' } : {}) }));
  const query: Database['query'] = async <Row>(...args: Parameters<Database['query']>) => {
    const rows = await things.db.query<Row>(...args);
    return args[0] === 'replica-news' ? (earlier(rows) as Row[]) : rows;
  };
  const { replica, copies } = await things.follow({ ...STRICT, db: { ...things.db, query } });
  await things.set('thing-p', 1);
  await replica.fresh();
  const before = BigInt(replica.position());
  isEarlier = true;
  await replica.fresh();
  expect(BigInt(replica.position())).toBe(before);
  await things.set('thing-p', 2);
  await replica.fresh();
  expect([BigInt(replica.position()) > before, copies.get('thing-p')]).toEqual([true, 2]);
});
