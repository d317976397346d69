import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import type { Log } from '../lib/log/log.ts';
import { connectionOptions, watchPool } from './connection-pool.ts';
import { migrateQueue } from './migrate-queue.ts';
import { clientOn } from './primary/database-hosts.ts';
import { createPrimaryGate, type PrimaryGate } from './primary/primary-gate.ts';
import { takeConnection } from './take-connection.ts';

interface Migration {
  version: number;
  name: string;
  text: string;
  checksum: string;
}

interface Applied {
  version: number;
  name: string;
  checksum: string;
}

export interface MigrateOptions {
  readonly directory?: string;
  readonly gate?: PrimaryGate;
}

const MIGRATIONS_DIR = join(import.meta.dirname, 'migrations');
/** Advisory lock key: a fixed number that every process of every node uses. */
const LOCK_KEY = 7_402_002;

/**
 * Migrates the schema: the queue's own migrations, then each `NNNN-name.sql` that is not yet applied, one transaction per file. Safe to
 * call from several processes at once. Refuses a file that changed after it was applied, and a database that is newer than this code.
 * Resolves with the version of this code: its newest migration.
 */
export async function migrate(
  url: string,
  log: Log,
  { directory = MIGRATIONS_DIR, gate = createPrimaryGate({ url, log }) }: MigrateOptions = {},
): Promise<number> {
  const migrations = await readMigrations(directory);
  // A migration may run long, and others wait for it: no limits, except for a server that does not know the statement.
  const unlimited = { statement_timeout: 0, lock_timeout: 0, idle_in_transaction_session_timeout: 0 };
  const pool = new pg.Pool({
    ...connectionOptions(url, 'agent-network migrate'),
    ...unlimited,
    max: 2,
    Client: clientOn(url),
  });
  watchPool(pool, { url, log, gate, hardLimitMs: Number.POSITIVE_INFINITY });
  try {
    const client = await takeConnection(pool);
    try {
      await client.query('select pg_advisory_lock($1)', [LOCK_KEY]);
      await migrateQueue(pool, log);
      await applyAll(client, migrations, log);
    } finally {
      client.release(true);
    }
  } finally {
    await pool.end();
  }
  return migrations.at(-1)?.version ?? 0;
}

async function applyAll(client: pg.PoolClient, migrations: readonly Migration[], log: Log): Promise<void> {
  await client.query(`create table if not exists schema_migration (
    version integer primary key, name text not null, checksum text not null, applied_at timestamptz not null default now())`);
  const { rows } = await client.query<Applied>('select version, name, checksum from schema_migration order by version');
  assertSameHistory(migrations, rows);
  const applied = new Set(rows.map((row) => row.version));
  for (const migration of migrations.filter(({ version }) => !applied.has(version))) {
    await applyOne(client, migration);
    log.debug({ migration: migration.name }, 'migration applied');
  }
}

function assertSameHistory(migrations: readonly Migration[], applied: readonly Applied[]): void {
  const known = new Map(migrations.map((migration) => [migration.version, migration]));
  for (const row of applied) {
    const migration = known.get(row.version);
    if (migration === undefined) {
      throw new Error(`the database is newer than this code: it has migration ${row.name}; start a newer version`);
    }
    if (migration.checksum !== row.checksum) {
      throw new Error(`migration ${migration.name} was changed after it was applied; restore it and add a new file`);
    }
  }
}

async function applyOne(client: pg.PoolClient, { version, name, text, checksum }: Migration): Promise<void> {
  await client.query('begin');
  try {
    await client.query(text);
    await client.query('insert into schema_migration (version, name, checksum) values ($1, $2, $3)', [
      version,
      name,
      checksum,
    ]);
    await client.query('commit');
  } catch (cause) {
    await client.query('rollback');
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`migration ${name} failed: ${reason}`, { cause });
  }
}

async function readMigrations(directory: string): Promise<Migration[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort();
  const migrations = await Promise.all(names.map((name) => readMigration(directory, name)));
  for (const [index, { version, name }] of migrations.entries()) {
    if (migrations[index - 1]?.version === version) throw new Error(`two migrations have the number of ${name}`);
  }
  return migrations;
}

async function readMigration(directory: string, file: string): Promise<Migration> {
  const match = /^(\d{4})-([a-z0-9-]+)\.sql$/.exec(file);
  if (match === null) throw new Error(`${file} is not a migration name like 0001-add-agents.sql`);
  const text = await readFile(join(directory, file), 'utf8');
  const checksum = createHash('sha256').update(text.replaceAll('\r\n', '\n')).digest('hex');
  return { version: Number(match[1]), name: file.slice(0, -'.sql'.length), text, checksum };
}
