import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { migrate } from '../../src/db/migrate.ts';
import { silentLog as log } from '../../src/lib/log/log.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

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

test('a database that is newer than the code is refused', async () => {
  await write('0001-one.sql', 'create table one (n integer)');
  await write('0002-two.sql', 'create table two (n integer)');
  await run();
  await rm(join(directory, '0002-two.sql'));
  await expect(run()).rejects.toThrow('newer than this code: it has migration 0002-two');
});

test('two files with one number are refused before anything is applied', async () => {
  await write('0001-one.sql', 'create table one (n integer)');
  await write('0001-other.sql', 'create table other (n integer)');
  await expect(run()).rejects.toThrow('two migrations have the number of 0001-other');
  expect((await client.query(`select to_regclass('one') as one`)).rows).toEqual([{ one: null }]);
});
