import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createLog, silentLog as log } from '../../src/lib/telemetry/log.ts';
import { openDatabase } from '../../src/store/database.ts';
import { MAX_AHEAD, migrate } from '../../src/store/migrate.ts';
import { createDrain } from '../../src/store/queue/drain.ts';
import { startHeartbeat } from '../../src/store/queue/heartbeat.ts';
import { startDatabaseProxy } from '../support/database-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { until } from '../support/until.ts';

let database: TestDatabase;
let directory: string;
let client: pg.Client;

beforeEach(async () => {
  database = await createTestDatabase();
  directory = await mkdtemp(join(tmpdir(), 'agent-network-migrations-'));
  client = new pg.Client(database.url);
  await client.connect();
  await client.query('drop table schema_migration');
});
afterEach(async () => {
  await client.end();
  await database.drop();
  await rm(directory, { recursive: true, force: true });
});

const write = (name: string, text: string) => writeFile(join(directory, name), text);
const run = () => migrate(database.url, log, { directory });

test('several processes that start at once apply each file once', async () => {
  await write('0001-one.sql', 'create table one (n integer); insert into one values (1)');
  await write('0002-two.sql', 'insert into one values (2)');
  await Promise.all([run(), run(), run()]);
  await run();
  expect((await client.query('select n from one order by n')).rows).toEqual([{ n: 1 }, { n: 2 }]);
});

test('a file that fails leaves nothing behind, and the ones before it applied', async () => {
  await write('0001-one.sql', 'create table one (n integer)');
  await write('0002-two.sql', 'insert into one values (2); select broken');
  await expect(run()).rejects.toThrow('migration 0002-two failed: column "broken" does not exist');
  expect((await client.query('select n from one')).rows).toEqual([]);
  await write('0002-two.sql', 'insert into one values (2)');
  await run();
  expect((await client.query('select n from one')).rows).toEqual([{ n: 2 }]);
});

test('a file that was changed after it was applied is refused', async () => {
  await write('0001-one.sql', 'create table one (n integer)');
  await run();
  await write('0001-one.sql', 'create table one (n bigint)');
  await expect(run()).rejects.toThrow('0001-one was changed after it was applied');
});

test('a database with all files that a baseline replaces continues after it; one with some of them is refused with a remedy', async () => {
  await write('0001-one.sql', 'create table one (n integer)');
  await write('0002-two.sql', 'alter table one add column m integer');
  await run();
  const { rows } = await client.query<{ checksum: string }>('select checksum from schema_migration order by version');
  const digest = createHash('sha256').update(rows.map(({ checksum }) => checksum).join('\n'));
  await Promise.all(['0001-one.sql', '0002-two.sql'].map((name) => rm(join(directory, name))));
  const baseline = `-- baseline of commit abc, digest ${digest.digest('hex')}\ncreate table one (n integer, m integer)`;
  await write('0002-baseline.sql', baseline);
  await write('0003-three.sql', 'alter table one add column o integer');
  expect(await run()).toBe(3);
  expect(await run()).toBe(3);
  expect((await client.query('select n, m, o from one')).rows).toEqual([]);

  await client.query('delete from schema_migration where version >= 2');
  await expect(run()).rejects.toThrow(
    'the database is too old: it has migrations up to 0001-one, and not all that commit abc had; start that commit on it once, then this one',
  );

  await client.query('drop table schema_migration, one');
  expect(await run()).toBe(3);
  expect(await run()).toBe(3);
  expect((await client.query('select n, m, o from one')).rows).toEqual([]);
  await write('0002-baseline.sql', `${baseline};`);
  await expect(run()).rejects.toThrow('0002-baseline was changed after it was applied');
});

/** Writes and runs migrations, and takes the files away: the code is then older than the database. */
async function migrateBeyond(...files: readonly [name: string, text: string][]): Promise<void> {
  for (const [name, text] of files) await write(name, text);
  await run();
  for (const [name] of files) await rm(join(directory, name));
}

test('code starts on a newer database with additions only, within its limit', async () => {
  await write('0001-one.sql', 'create table one (n integer)');
  const added = (version: number) =>
    [`${String(version).padStart(4, '0')}-more.sql`, `create table more_${version} (n integer)`] as const;
  await migrateBeyond(...Array.from({ length: MAX_AHEAD }, (_, index) => [...added(index + 2)] as [string, string]));
  expect(await run()).toBe(1);
  await migrateBeyond(
    ...Array.from({ length: MAX_AHEAD + 1 }, (_, index) => [...added(index + 2)] as [string, string]),
  );
  await expect(run()).rejects.toThrow(
    `the database is too new: it is ${MAX_AHEAD + 1} migrations ahead, up to 0012-more (this version has migrations up to 1, which supports ${MAX_AHEAD} more)`,
  );
});

test('code does not start on a database that was contracted since, and the error names the version that it needs', async () => {
  await write('0001-one.sql', 'create table one (n integer, old integer)');
  await migrateBeyond(
    ['0002-unused.sql', 'alter table one alter column old drop not null'],
    ['0003-drop.sql', '-- contract after 0002\nalter table one drop column old'],
  );
  await expect(run()).rejects.toThrow(
    'the database is too new: 0003-drop removed what this version uses (this version has migrations up to 1); start one that has migration 2 or later',
  );
  await write('0002-unused.sql', 'alter table one alter column old drop not null');
  expect(await run()).toBe(2);
});

test('a migration that contracts waits until no older process runs', async () => {
  await write('0001-one.sql', 'create table one (n integer, old integer)');
  await run();
  await write('0002-drop.sql', '-- contract\nalter table one drop column old');
  const beat = (id: number, schema: number | null, age: string) =>
    client.query(
      `insert into process (id, label, place, schema_version, seen_at)
       values ($1::text::uuid, 'node', 'host:' || $2, $3, clock_timestamp() - $4::interval)`,
      [`00000000-0000-4000-8000-00000000000${id}`, 4020 + id, schema, age],
    );
  await beat(1, 1, '1 second');
  await beat(2, null, '1 second');
  await beat(3, 2, '1 second');
  await beat(4, 1, '11 seconds');
  await expect(run()).rejects.toThrow(
    /0002-drop failed: it removes what versions before migration 2 use, and processes of such run: host:4021 \(00000000-\S+1, migrations up to 1\), host:4022 \(00000000-\S+2, before migration 106\)\. Start a version/,
  );
  expect((await client.query('select old from one')).rows).toEqual([]);
  await client.query(`delete from process where place in ('host:4021', 'host:4022')`);
  expect(await run()).toBe(2);
  await expect(client.query('select old from one')).rejects.toThrow('column "old" does not exist');
});

test('a process that starts while a migration contracts is refused, and one that slept through it takes nothing more', async () => {
  await write('0001-one.sql', 'create table one (n integer, old integer)');
  await run();
  const db = openDatabase(database.url, { log });
  const drain = createDrain({ log, noticeMs: 0, invocations: () => 0 });
  const sleeper = await startHeartbeat({ db, log }, { self: { label: 'old', schemaVersion: 1 }, drain });
  try {
    // As a machine that was suspended: without a heartbeat when the migration ran.
    await client.query(`update process set seen_at = now() - interval '1 minute'`);
    await write('0002-drop.sql', '-- contract\nalter table one drop column old');
    await run();
    await expect(startHeartbeat({ db, log }, { self: { label: 'late', schemaVersion: 1 } })).rejects.toThrow(
      'the database is too new: 0002-drop removed what this version uses while it started',
    );
    expect((await client.query('select label from process')).rows).toEqual([{ label: 'old' }]);
    // With its next heartbeat.
    await expect.poll(() => [drain.isAsked(), drain.isRefusing()]).toEqual([true, true]);
  } finally {
    await sleeper.stop();
    await db.close();
  }
});

test('a migration that needs a table which a long transaction reads lets others read it, and goes through afterwards', async () => {
  await write('0001-one.sql', 'create table one (n integer)');
  await run();
  await write('0002-more.sql', 'alter table one add column more integer');
  await client.query('begin');
  await client.query('select from one');
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const lines: string[] = [];
  const told = createLog({ level: 'warn', destination: { write: (line) => void lines.push(line) } });
  const migrating = migrate(database.url, told, { directory, lockWaitMs: 200 });
  const other = new pg.Client(database.url);
  try {
    await expect.poll(() => lines.join('')).toContain(`"heldUpBy":[{"pid":${rows[0]?.pid},`);
    expect(lines[0]).toContain('migration 0002-more failed: canceling statement due to lock timeout');
    await other.connect();
    expect((await other.query('select n from one')).rows).toEqual([]);
  } finally {
    await client.query('commit');
    await migrating;
    await other.end();
  }
  expect((await client.query('select more from one')).rows).toEqual([]);
});

test('two files with one number are refused before anything is applied', async () => {
  await write('0001-one.sql', 'create table one (n integer)');
  await write('0001-other.sql', 'create table other (n integer)');
  await expect(run()).rejects.toThrow('two migrations have the number of 0001-other');
  expect((await client.query(`select to_regclass('one') as one`)).rows).toEqual([{ one: null }]);
});

test('a machine that vanishes during a migration does not keep others from starting', async () => {
  await write('0001-slow.sql', 'create table slow (n integer); select pg_sleep(0.5)');
  const proxy = await startDatabaseProxy(database.url);
  const vanished = migrate(proxy.url, log, { directory, silentMs: 500 }).then(
    () => 'done',
    () => 'gone',
  );
  try {
    const isMigrating = async () => {
      const { rows } = await client.query(
        `select from pg_locks l join pg_stat_activity a using (pid)
          where l.locktype = 'advisory' and l.granted and a.query like '%pg_sleep%' and a.pid <> pg_backend_pid()`,
      );
      return rows.length > 0;
    };
    await until(isMigrating);
    proxy.set('silent');
    await migrate(database.url, log, { directory, silentMs: 500 });
    expect((await client.query('select n from slow')).rows).toEqual([]);
  } finally {
    await proxy.stop();
  }
  expect(await vanished).toBe('gone');
});
