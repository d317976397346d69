import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { foldersOfDeadRuns } from '../../../../scripts/fast-temp-folder.ts';
import { silentLog } from '../../src/lib/telemetry/log.ts';
import { startEmbeddedPostgres } from '../../src/store/embedded-postgres.ts';
import { migrate } from '../../src/store/migrate.ts';
import { TEMPLATE_DATABASE, withDatabase } from './database-url.ts';
import { removePostgresDataDir } from './remove-data-dir.ts';

declare module 'vitest' {
  interface ProvidedContext {
    postgresAdminUrl: string;
    /** See long.ts. */
    isLong: boolean;
    /** Why the template could not be migrated; only tests that need a database fail for it. */
    migrationError: string | null;
  }
}

/** One PostgreSQL for the whole run, with a migrated template database that every test file clones. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const removeTempFolder = await makeTempFolder(project.config.env.TMPDIR);
  const dataDir = await mkdtemp(join(tmpdir(), 'agent-network-test-'));
  // As root, PostgreSQL's own user has to get in.
  await chmod(dataDir, 0o711);
  const postgres = await startEmbeddedPostgres({ dataDir, durable: false, log: silentLog }).catch(async (error) => {
    await removePostgresDataDir(dataDir);
    throw error;
  });
  project.provide('postgresAdminUrl', postgres.url);
  project.provide('migrationError', await makeTemplate(postgres.url));
  return async () => {
    await postgres.stop();
    await removePostgresDataDir(dataDir);
    await removeTempFolder();
  };
}

/** Makes the folder for temporary files that vitest.config.ts names, if it names one, and removes those that killed runs left. */
async function makeTempFolder(folder: string | undefined): Promise<() => Promise<void>> {
  if (folder === undefined) return async () => {};
  const parent = dirname(folder);
  const dead = foldersOfDeadRuns(await readdir(parent), isAlive);
  // Those of another user stay.
  await Promise.all(dead.map((each) => rm(each, { recursive: true, force: true }).catch(() => undefined)));
  // A killed run may have had this process id too.
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  // As root, PostgreSQL's own user has to get in.
  await chmod(folder, 0o711);
  process.env.TMPDIR = folder;
  return () => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // It lives, and belongs to somebody else.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function makeTemplate(adminUrl: string): Promise<string | null> {
  const admin = new pg.Client(adminUrl);
  await admin.connect();
  try {
    await admin.query(`create database ${TEMPLATE_DATABASE}`);
    await migrate(withDatabase(adminUrl, TEMPLATE_DATABASE), silentLog);
    await makeSignInsCheap(admin, adminUrl);
    await admin.query(`alter database ${TEMPLATE_DATABASE} with is_template true allow_connections false`);
    return null;
  } catch (error) {
    return String(error);
  } finally {
    await admin.end();
  }
}

/**
 * Each test file signs in dozens of times: an exchange that hides the password on the way, and 4096 rounds against guessing, take
 * milliseconds of each, and guard nothing here.
 */
async function makeSignInsCheap(admin: pg.Client, adminUrl: string): Promise<void> {
  const { username, password } = new URL(adminUrl);
  await admin.query('set scram_iterations = 1');
  await admin.query(`alter role ${admin.escapeIdentifier(username)} password ${admin.escapeLiteral(password)}`);
  const { rows } = await admin.query<{ path: string }>(`select current_setting('hba_file') as path`);
  const path = rows[0]?.path ?? '';
  await writeFile(path, (await readFile(path, 'utf8')).replace(/ scram-sha-256$/gm, ' password'));
  await admin.query('select pg_reload_conf()');
}
