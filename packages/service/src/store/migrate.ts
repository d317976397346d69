import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { madeOnce } from '../lib/made-once.ts';
import type { Log } from '../lib/telemetry/log.ts';
import { connectionOptions, openClient, watchPool } from './connection-pool.ts';
import { repeatHeldUp } from './lock-wait.ts';
import { clientOn } from './primary/database-hosts.ts';
import { createPrimaryGate, type PrimaryGate } from './primary/primary-gate.ts';
import { takeConnection } from './take-connection.ts';
import { requireOwnServer, throwPoolerNamed } from './transaction-pooler.ts';

interface Migration {
  version: number;
  name: string;
  text: string;
  checksum: string;
  /** Oldest version of the code that works after it; null: any, as it only adds. */
  needs: number | null;
  /** For a baseline: the last commit with the older files that it replaces, and the digest of their checksums. */
  replaced: { commit: string; digest: string } | null;
}

interface Applied {
  version: number;
  name: string;
  checksum: string;
  needs: number | null;
}

export interface MigrateOptions {
  readonly directory?: string;
  readonly gate?: PrimaryGate;
  /** Migration that each process on the database must have reached, from now on; null: as the migrations declare. */
  readonly needs?: number | null;
  /** Longest wait for a lock, and pause before the next; default: 3 s. */
  readonly lockWaitMs?: number;
  /** A process that is not heard of for so long while it migrates loses its lock; default: a minute. */
  readonly silentMs?: number;
}

const ownMigrations = madeOnce(() => readMigrations(join(import.meta.dirname, 'migrations')));
/** Advisory lock key: a fixed number that every process of every node uses. */
const LOCK_KEY = 7_402_002;
const LOCK_WAIT_MS = 3_000;
const SILENT_MS = 60_000;
/** Maximum number of migrations that a database may be ahead of the code; `npm run check:upgrade` proves that this many work. */
export const MAX_AHEAD = 10;

/**
 * Migrates the schema by each `NNNN-name.sql` that is not yet applied, one transaction per file. The first file
 * is the baseline: an empty database runs it, one that has all the files that it replaces does not, and one that has some of them is refused.
 * Safe to call from several processes at once. A transaction that does not get a lock in time is rolled back, lets others pass, and begins
 * again. A database may be newer than this code as long as it was only added to; one that contracts waits until no older process runs. Refuses
 * a file that changed after it was applied. Resolves with the version of this code: its newest migration.
 */
export async function migrate(
  url: string,
  log: Log,
  {
    directory,
    gate = createPrimaryGate({ url, log }),
    needs = null,
    lockWaitMs: waitMs = LOCK_WAIT_MS,
    silentMs = SILENT_MS,
  }: MigrateOptions = {},
): Promise<number> {
  const migrations = directory === undefined ? ownMigrations() : readMigrations(directory);
  // A migration may run long, and others wait for it: no limits, except for a server that does not know the statement. `lockOthersOut` bounds the
  // waits for tables.
  const unlimited = { statement_timeout: 0, lock_timeout: 0, idle_in_transaction_session_timeout: silentMs };
  const pool = new pg.Pool({
    ...connectionOptions(url, 'agent-network migrate'),
    ...unlimited,
    max: 1,
    Client: clientOn(url),
  });
  watchPool(pool, { url, log, gate, hardLimitMs: Number.POSITIVE_INFINITY });
  try {
    const client = await takeConnection(pool).catch(throwPoolerNamed);
    try {
      await requireOwnServer(client, () => openClient(connectionOptions(url, 'agent-network start')));
      const pid = await lockOthersOut(client, { waitMs, silentMs });
      await repeatHeldUp({ url, log, pid, waitMs }, async () => {
        await applyAll(client, migrations, log);
        if (needs !== null) await refuseOlder(client, needs);
      });
    } finally {
      client.release(true);
    }
  } finally {
    await pool.end();
  }
  return migrations.at(-1)?.version ?? 0;
}

/**
 * Waits for others that migrate, however long; from then on no lock is waited for longer than `waitMs`. The server ends the session, and gives
 * the lock away, once its client has been silent for `silentMs`: a machine that vanished must not keep the others from starting. Returns the
 * connection's process.
 */
async function lockOthersOut(
  client: pg.PoolClient,
  { waitMs, silentMs }: { readonly waitMs: number; readonly silentMs: number },
): Promise<number> {
  await client.query(`select set_config('idle_session_timeout', $1, false)`, [String(silentMs)]);
  await client.query('select pg_advisory_lock($1)', [LOCK_KEY]);
  const { rows } = await client.query<{ pid: number }>(
    `select pg_backend_pid() as pid, set_config('lock_timeout', $1, false)`,
    [String(waitMs)],
  );
  return rows[0]?.pid ?? 0;
}

async function applyAll(client: pg.PoolClient, migrations: readonly Migration[], log: Log): Promise<void> {
  await client.query(`create table if not exists schema_migration (
    version integer primary key, name text not null, checksum text not null, applied_at timestamptz not null default now(),
    needs integer)`);
  // A table that an older version made has no column for it.
  const { rows } = await client.query<Applied>(
    `select version, name, checksum, (to_jsonb(m) ->> 'needs')::integer as needs from schema_migration m order by version`,
  );
  const applied = replaceByBaseline(migrations[0], rows);
  assertSameHistory(migrations, applied);
  tellNewer(migrations, applied, log);
  const versions = new Set(applied.map(({ version }) => version));
  for (const migration of migrations.filter(({ version }) => !versions.has(version))) {
    if (migration.needs !== null)
      await client.query('alter table schema_migration add column if not exists needs integer');
    await applyOne(client, migration);
    log.debug({ migration: migration.name }, 'migration applied');
  }
}

/** The record with the baseline in place of the files that it replaces. Refuses a database that has only some of these. */
function replaceByBaseline(baseline: Migration | undefined, applied: readonly Applied[]): readonly Applied[] {
  if (!baseline?.replaced) return applied;
  const { version, name, checksum, replaced } = baseline;
  const older = applied.filter((row) => row.version <= version);
  if (older.every((row) => row.version === version)) return applied;
  if (digestOf(older.map((row) => row.checksum).join('\n')) !== replaced.digest)
    throw new Error(
      `the database is too old: it has migrations up to ${older.at(-1)?.name}, and not all that commit ${replaced.commit} had; start that commit on it once, then this one`,
    );
  return [{ version, name, checksum, needs: null }, ...applied.slice(older.length)];
}

function assertSameHistory(migrations: readonly Migration[], applied: readonly Applied[]): void {
  const known = new Map(migrations.map((migration) => [migration.version, migration]));
  for (const row of applied) {
    const migration = known.get(row.version);
    if (migration !== undefined && migration.checksum !== row.checksum) {
      throw new Error(`migration ${migration.name} was changed after it was applied; restore it and add a new file`);
    }
  }
}

/** Throws for a database that lacks something this code uses; logs one that only has more. */
function tellNewer(migrations: readonly Migration[], applied: readonly Applied[], log: Log): void {
  const known = new Set(migrations.map(({ version }) => version));
  const own = migrations.at(-1)?.version ?? 0;
  const unknown = applied.filter(({ version }) => !known.has(version));
  const newest = unknown.at(-1);
  if (!newest) return;
  const here = `this version has migrations up to ${own}`;
  const contracted = unknown.findLast(({ needs }) => needs !== null && needs > own);
  if (contracted)
    throw new Error(
      `the database is too new: ${contracted.name} removed what this version uses (${here}); start one that has migration ${contracted.needs} or later`,
    );
  if (unknown.length > MAX_AHEAD)
    throw new Error(
      `the database is too new: it is ${unknown.length} migrations ahead, up to ${newest.name} (${here}, which supports ${MAX_AHEAD} more); start a newer version`,
    );
  log.warn(
    { newest: newest.name, ahead: unknown.length, own },
    'the database is newer than this version; it has only been added to',
  );
}

async function applyOne(client: pg.PoolClient, migration: Migration): Promise<void> {
  const { version, name, text, checksum, needs } = migration;
  await client.query('begin');
  try {
    if (needs !== null) await requireNoOlderProcess(client, needs, REMOVES);
    await client.query(text);
    await client.query(
      needs === null
        ? 'insert into schema_migration (version, name, checksum) values ($1, $2, $3)'
        : 'insert into schema_migration (version, name, checksum, needs) values ($1, $2, $3, $4)',
      [version, name, checksum, ...(needs === null ? [] : [needs])],
    );
    await client.query('commit');
  } catch (cause) {
    await client.query('rollback');
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`migration ${name} failed: ${reason}`, { cause });
  }
}

/** Marks the database for processes that have a migration, once none without it runs. */
async function refuseOlder(client: pg.PoolClient, needs: number): Promise<void> {
  await client.query('alter table schema_migration add column if not exists needs integer');
  const isMarked = 'select from schema_migration where needs >= $1';
  if ((await client.query(isMarked, [needs])).rows.length > 0) return;
  await client.query('begin');
  try {
    await requireNoOlderProcess(client, needs, KEEPS_ASSETS);
    await client.query('update schema_migration set needs = $1 where version = $1', [needs]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}

const REMOVES = (needs: number) => `it removes what versions before migration ${needs} use`;
const KEEPS_ASSETS = (needs: number) =>
  `the node is on several networks, whose money versions before migration ${needs} take for one`;

/** No older process may run, nor start until this has committed: each looks at the migrations after it has registered. */
async function requireNoOlderProcess(
  client: pg.PoolClient,
  needs: number,
  why: (needs: number) => string,
): Promise<void> {
  const { rows: tables } = await client.query(`select 1 from pg_class where oid = to_regclass('process')`);
  if (tables.length === 0) return;
  await client.query('lock table process in share row exclusive mode');
  const { rows } = await client.query<{ process: string }>(
    `select coalesce(place, label) || ' (' || id || ', ' || coalesce('migrations up to ' || schema_version, 'before migration 106') || ')' as process
       from process where seen_at > clock_timestamp() - interval '10 seconds' and coalesce(schema_version, 0) < $1 order by 1`,
    [needs],
  );
  if (rows.length > 0)
    throw new Error(
      `${why(needs)}, and processes of such run: ${rows.map(({ process }) => process).join(', ')}. Start a version between the two on them first, or drain and stop them; then start this one again`,
    );
}

/** At once: in turns, dozens of small files would cost ten times as much. */
function readMigrations(directory: string): Migration[] {
  const names = readdirSync(directory).filter((name) => name.endsWith('.sql'));
  const migrations = names.sort().map((name) => readMigration(directory, name));
  for (const [index, { version, name }] of migrations.entries()) {
    if (migrations[index - 1]?.version === version) throw new Error(`two migrations have the number of ${name}`);
  }
  return migrations;
}

function readMigration(directory: string, file: string): Migration {
  const match = /^(\d{4})-([a-z0-9-]+)\.sql$/.exec(file);
  if (match === null) throw new Error(`${file} is not a migration name like 0001-add-agents.sql`);
  const text = readFileSync(join(directory, file), 'utf8');
  const [firstLine = ''] = text.split(/\r?\n/, 1);
  const contracts = /^-- contract(?: after (\d{4}))?$/.exec(firstLine);
  const needs = contracts && Number(contracts[1] ?? match[1]);
  const [, commit, digest] = /^-- baseline of commit (\w+), digest (\w+)$/.exec(firstLine) ?? [];
  const replaced = commit && digest ? { commit, digest } : null;
  const checksum = digestOf(text.replaceAll('\r\n', '\n'));
  return { version: Number(match[1]), name: file.slice(0, -'.sql'.length), text, checksum, needs, replaced };
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');
