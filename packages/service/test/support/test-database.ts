import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { inject } from 'vitest';
import { TEMPLATE_DATABASE, withDatabase } from './database-url.ts';
import { endConnections, keepConnections, withClient } from './kept-connections.ts';

/**
 * Maximum connections of one Vitest worker, over all its databases, when it makes another: `maxWorkers` of these stay below
 * `max_connections`, so that no file is refused a connection for what another one holds.
 */
const MAX_CONNECTIONS_OF_WORKER = 300;

export interface TestDatabase {
  url: string;
  /** Ends every connection to the database and removes it. */
  drop(): Promise<void>;
}

/**
 * A new database with the current schema and no rows, for one test file; or a copy of another, which must have no connections. Safe in
 * files that run at the same time.
 */
export async function createTestDatabase(copied?: TestDatabase): Promise<TestDatabase> {
  const migrationError = inject('migrationError');
  if (migrationError !== null) throw new Error(`the template database has no schema: ${migrationError}`);
  const adminUrl = inject('postgresAdminUrl');
  const prefix = `test_${process.env.VITEST_POOL_ID ?? 0}_`;
  const name = `${prefix}${randomBytes(8).toString('hex')}`;
  const template = copied ? new URL(copied.url).pathname.slice(1) : TEMPLATE_DATABASE;
  keepConnections(adminUrl);
  if (copied) await endConnections(copied.url, false);
  await withClient(adminUrl, async (admin) => {
    await assertBudget(admin, prefix);
    await admin.query(`create database ${name} template ${template} strategy file_copy`);
  });
  const url = withDatabase(adminUrl, name);
  keepConnections(url);
  return {
    url,
    async drop() {
      await endConnections(url, true);
      await withClient(adminUrl, (admin) => admin.query(`drop database if exists ${name} with (force)`));
    },
  };
}

/** Throws when the databases of this worker have too many connections, because some file does not stop its resources. */
async function assertBudget(admin: pg.ClientBase, prefix: string): Promise<void> {
  const { rows } = await admin.query<{ held: number }>(
    'select coalesce(sum(numbackends), 0)::int as held from pg_stat_database where starts_with(datname, $1)',
    [prefix],
  );
  const held = rows[0]?.held ?? 0;
  if (held > MAX_CONNECTIONS_OF_WORKER)
    throw new Error(`this worker holds ${held} database connections; its budget is ${MAX_CONNECTIONS_OF_WORKER}`);
}
