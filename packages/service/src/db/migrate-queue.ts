import { runMigrations } from 'graphile-worker';
import type pg from 'pg';
import type { Log } from '../lib/log/log.ts';
import { graphileLog } from './graphile-log.ts';

/** Creates or updates graphile-worker's own schema, which our migrations and `addJob` depend on. */
export async function migrateQueue(pool: pg.Pool, log: Log): Promise<void> {
  await runMigrations({ pgPool: pool, logger: graphileLog(log) });
}
