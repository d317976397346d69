import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { TEMPLATE_DATABASE, withDatabase } from './database-url.ts';

export interface TestDatabase {
  url: string;
  /** Ends every connection to the database and removes it. */
  drop(): Promise<void>;
}

/** A new database with the current schema and no rows, for one test file. Safe in files that run at the same time. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const migrationError = inject('migrationError');
  if (migrationError !== null) throw new Error(`the template database has no schema: ${migrationError}`);
  const adminUrl = inject('postgresAdminUrl');
  const name = `test_${randomBytes(8).toString('hex')}`;
  await runAsAdmin(adminUrl, `create database ${name} template ${TEMPLATE_DATABASE} strategy file_copy`);
  return {
    url: withDatabase(adminUrl, name),
    drop: () => runAsAdmin(adminUrl, `drop database if exists ${name} with (force)`),
  };
}

async function runAsAdmin(adminUrl: string, statement: string): Promise<void> {
  const admin = new pg.Client(adminUrl);
  await admin.connect();
  try {
    await admin.query(statement);
  } finally {
    await admin.end();
  }
}
