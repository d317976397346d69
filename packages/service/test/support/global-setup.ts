import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres } from '../../src/db/embedded-postgres.ts';
import { migrate } from '../../src/db/migrate.ts';
import { silentLog } from '../../src/lib/log/log.ts';
import { TEMPLATE_DATABASE, withDatabase } from './database-url.ts';
import { removePostgresDataDir } from './remove-data-dir.ts';

declare module 'vitest' {
  interface ProvidedContext {
    postgresAdminUrl: string;
    /** Why the template could not be migrated; only tests that need a database fail for it. */
    migrationError: string | null;
  }
}

/** One PostgreSQL for the whole run, with a migrated template database that every test file clones. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
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
  };
}

async function makeTemplate(adminUrl: string): Promise<string | null> {
  const admin = new pg.Client(adminUrl);
  await admin.connect();
  try {
    await admin.query(`create database ${TEMPLATE_DATABASE}`);
    await migrate(withDatabase(adminUrl, TEMPLATE_DATABASE), silentLog);
    await admin.query(`alter database ${TEMPLATE_DATABASE} with is_template true allow_connections false`);
    return null;
  } catch (error) {
    return String(error);
  } finally {
    await admin.end();
  }
}
