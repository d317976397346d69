import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMetrics } from '../../src/lib/metrics.ts';
import { silentLog } from '../../src/lib/telemetry/log.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { type Databases, openDatabases } from '../../src/store/open-databases.ts';
import { clientOn } from '../../src/store/primary/database-hosts.ts';
import { acceptHole } from '../../src/store/primary/hole-store.ts';
import { createPrimaryGate } from '../../src/store/primary/primary-gate.ts';
import { keepPromise, readPromise, recallPromise } from '../../src/store/primary/promise-file.ts';
import { type PostgresPair, startPostgresPair } from '../support/postgres-pair.ts';
import { until } from '../support/until.ts';

/** The tests are one story, in this order: commits that a standby has, commits that it lacks, and its promotion. */
let pair: PostgresPair;
let db: Database;
/** Another process, which was promised less. */
let process2: Databases;
let other: Database;
let folder: string;

const open = () => openDatabase(pair.url, { max: 3, log: silentLog });
const book = (id: number) => db.transaction((tx) => tx.query('test-book', 'insert into booked (id) values ($1)', [id]));
const booked = (from: Database) => from.query<{ id: number }>('test-booked', 'select id from booked order by id');
const away = (outcome: string) => ({ name: 'DatabaseAwayError', outcome });
const soon = <T>(work: () => Promise<T>, isGood: (found: T) => boolean = () => true) =>
  until(() =>
    work().then(
      (found) => (isGood(found) ? true : null),
      () => null,
    ),
  );
const replicated = () =>
  soon(
    () =>
      pair.primary.ask<{ has: boolean }>(
        'select count(*) = 1 and bool_and(replay_lsn = pg_current_wal_lsn()) as has from pg_stat_replication',
      ),
    ([row]) => row?.has === true,
  );

beforeAll(async () => {
  pair = await startPostgresPair();
  await migrate(pair.url, silentLog);
  await pair.primary.ask('create table booked (id integer primary key)');
  db = open();
  folder = await mkdtemp(join(tmpdir(), 'agent-network-promise-'));
  const gate = createPrimaryGate({ url: pair.url, log: silentLog });
  const parts = { databaseUrl: pair.url, gate, promiseFile: join(folder, 'promise.json'), max: 3 };
  process2 = openDatabases(parts, { log: silentLog, metrics: createMetrics() });
  other = process2.db;
});
afterAll(async () => {
  await process2?.databaseWatch.stop();
  await Promise.all([db?.close(), other?.close(), process2?.replicaDb.close()]);
  await rm(folder, { recursive: true, force: true });
  await pair?.stop();
});

test('acknowledged commits are noted, and of two hosts the one that takes writes is found', async () => {
  await book(1);
  const { promised, server } = db.gate.state();
  expect(promised).toMatchObject({ systemId: server?.systemId, timeline: 1 });
  const [row] = await pair.primary.ask<{ status: string }>(
    `select pg_xact_status('${promised?.transactions.at(-1)}') as status`,
  );
  expect(row?.status).toBe('committed');
  db.gate.hosts.leave(db.gate.hosts.current());
  const fresh = open();
  expect(await booked(fresh)).toEqual([{ id: 1 }]);
  await fresh.close();
});

test('a connection that is refused late leaves its own host, not the one that others have found since', async () => {
  const url = `${pair.url}?target_session_attrs=primary`;
  const gate = createPrimaryGate({ url, log: silentLog });
  if (gate.hosts.current() !== pair.standby.url) gate.hosts.leave(gate.hosts.current());
  const Client = clientOn(url);
  const clients = [new Client({}), new Client({})];
  for (const client of clients) await client.connect();
  for (const client of clients) await expect(gate.admit(client)).rejects.toThrow('the server is a standby');
  expect(gate.hosts.current()).toBe(pair.primary.url);
  await Promise.all(clients.map((client) => client.end()));
});

test('a long statement goes on while another host is tried', async () => {
  const url = `${pair.url}?target_session_attrs=read-write`;
  const slow = openDatabase(url, { max: 1, log: silentLog });
  await booked(slow);
  const { hosts } = slow.gate;
  const working = slow.query<{ done: boolean }>('test-slow', 'select pg_sleep(3.5) is not null as done');
  hosts.leave(hosts.current());
  expect(hosts.current()).toBe(pair.standby.url);
  expect(await working).toEqual([{ done: true }]);
  await slow.close();
});

test('a process that starts anew knows from a file what others of its machine were promised', async () => {
  await other.transaction((tx) => tx.query('test-book', 'insert into booked (id) values ($1)', [3]));
  const { promised } = other.gate.state();
  const path = join(folder, 'promise.json');
  await soon(
    () => readPromise(path),
    (kept) => kept?.position === promised?.position,
  );
  expect(await readPromise(path)).toEqual(promised);
  expect(await keepPromise(path, promised && { ...promised, position: 1n })).toEqual(promised);
});

test('a process that could not write its file of promises does not start', async () => {
  const gate = createPrimaryGate({ url: pair.url, log: silentLog });
  const missing = join(folder, 'missing', 'promise.json');
  await expect(recallPromise(gate, missing)).rejects.toThrow(
    /^DATABASE_PROMISE_FILE cannot be written: ENOENT.*missing/,
  );
  const own = await mkdtemp(join(folder, 'own-'));
  const path = join(own, 'promise.json');
  await recallPromise(gate, path);
  expect([gate.state().promised, await readdir(own)]).toEqual([null, []]);
  const promised = other.gate.state().promised;
  await keepPromise(path, promised);
  await recallPromise(gate, path);
  expect([gate.state().promised, await readdir(own)]).toEqual([promised, ['promise.json']]);
});

test('the node tells what its database keeps', async () => {
  await soon(
    () => Promise.resolve(process2.databaseWatch.read()),
    ({ standbys }) => standbys === 1,
  );
  expect(process2.databaseWatch.read()).toEqual({
    hole: null,
    timeline: 1,
    keptOn: 'nothing',
    standbys: 1,
    synchronousStandbys: 0,
  });
});

test('a connection that is made while others commit is used', async () => {
  const client = new pg.Client(pair.primary.url);
  await client.connect();
  const asked = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>;
  client.query = (async (...args: unknown[]) => {
    const answer = await asked(...args);
    await book(20 + booksMeanwhile++);
    return answer;
  }) as typeof client.query;
  let booksMeanwhile = 0;
  await db.gate.admit(client);
  expect([booksMeanwhile, db.gate.state().hole]).toEqual([2, null]);
  await client.end();
});

test('a transaction that only reads, or fails, promises nothing', async () => {
  const before = db.gate.state().promised;
  await db.transaction((tx) => tx.query('test-booked', 'select id from booked order by id'));
  await expect(book(1)).rejects.toThrow(/duplicate key/);
  await db
    .transaction(
      async (tx) => void (await tx.query('test-book', 'insert into booked (id) values ($1)', [1]).catch(() => 0)),
    )
    .catch(() => undefined);
  expect(db.gate.state().promised).toEqual(before);
});

test('a commit whose wait for a standby was cancelled is not taken for acknowledged', async () => {
  await pair.primary.ask(`alter system set synchronous_standby_names = 'of_nobody'`);
  await pair.primary.ask('select pg_reload_conf()');
  await soon(
    () => pair.primary.ask<{ names: string }>(`select current_setting('synchronous_standby_names') as names`),
    ([row]) => row?.names === 'of_nobody',
  );
  // The checkpointer tells all sessions that commits wait; it reads the settings before it works.
  await pair.primary.ask('checkpoint');
  const waiting = expect(book(2)).rejects.toMatchObject(away('unknown'));
  const cancelled = () =>
    pair.primary.ask<{ done: boolean }>(
      `select pg_cancel_backend(pid) as done from pg_stat_activity where wait_event = 'SyncRep'`,
    );
  await soon(cancelled, (rows) => rows.length > 0);
  await waiting;
  await pair.primary.ask('alter system reset synchronous_standby_names');
  await pair.primary.ask('select pg_reload_conf()');
});

test('a primary that lacks an acknowledged commit is refused by every process until an operator accepts it', async () => {
  await other.transaction((tx) => tx.query('test-book', 'insert into booked (id) values ($1)', [10]));
  await replicated();
  // The standby hears nothing from here on: what follows is acknowledged by the primary alone.
  await pair.standby.ask(`alter system set primary_conninfo = ''`);
  await pair.standby.ask('select pg_reload_conf()');
  await soon(
    () => pair.primary.ask('select from pg_stat_replication'),
    (rows) => rows.length === 0,
  );
  await book(11);
  await pair.primary.kill();
  await pair.standby.ask('select pg_promote()');
  await soon(
    () => pair.standby.ask<{ is: boolean }>('select not pg_is_in_recovery() as is'),
    ([row]) => row?.is === true,
  );

  // As far as the other knows, nothing is missing.
  await soon(() => booked(other));
  // Its writes carry the server past the position of what is lost.
  for (let id = 100; id < 130; id++)
    await other.transaction((tx) => tx.query('test-book', 'insert into booked (id) values ($1)', [id]));

  await soon(
    () => booked(db).catch((error) => Promise.resolve(error)),
    () => db.gate.state().hole !== null,
  );
  await expect(book(12)).rejects.toMatchObject(away('nothing'));
  expect(db.gate.state().hole).toMatch(/promoted \d+ bytes of WAL before the last acknowledged commit/);
  const fresh = open();
  await expect(booked(fresh)).rejects.toMatchObject(away('nothing'));
  await soon(
    () => Promise.resolve(process2.databaseWatch.read().hole),
    (hole) => hole === db.gate.state().hole,
  );
  await expect(booked(other)).rejects.toMatchObject(away('nothing'));
  await expect(
    migrate(pair.url, silentLog, { gate: createPrimaryGate({ url: pair.url, log: silentLog }) }),
  ).rejects.toThrow();

  const operator = new pg.Client(pair.standby.url);
  await operator.connect();
  expect(await acceptHole(operator, 'ann')).toMatchObject({ acceptedBy: 'ann' });
  expect(await acceptHole(operator, 'ann')).toBeNull();
  await operator.end();
  await soon(() => book(13));
  await soon(() => booked(other));
  expect((await booked(fresh)).map(({ id }) => id)).toEqual(expect.arrayContaining([1, 10, 13, 129]));
  expect(db.gate.state()).toMatchObject({ hole: null, server: { timeline: 2 }, promised: { timeline: 2 } });
  await fresh.close();
});
