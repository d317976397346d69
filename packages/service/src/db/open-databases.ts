import type { HasLog } from '../lib/log/log.ts';
import type { HasMetrics } from '../lib/metrics.ts';
import { type Database, openDatabase } from './database.ts';
import { type DatabaseWatch, startDatabaseWatch } from './primary/database-watch.ts';
import type { PrimaryGate } from './primary/primary-gate.ts';
import { takeConnection } from './take-connection.ts';

export interface DatabaseParts {
  readonly databaseUrl: string;
  /** The gate that checked the server before the migrations. */
  readonly gate: PrimaryGate;
  readonly promiseFile: string | null;
  readonly max: number;
}

export interface Databases {
  readonly db: Database;
  /** Of one connection, behind nobody: when the pool is exhausted, what is read from memory goes on. */
  readonly replicaDb: Database;
  readonly databaseWatch: DatabaseWatch;
}

/** Opens the databases of a node behind one gate. */
export function openDatabases(
  { databaseUrl, gate, promiseFile, max }: DatabaseParts,
  { log, metrics }: HasLog & HasMetrics,
): Databases {
  const db = openDatabase(databaseUrl, { max, log, gate });
  const replicaDb = openDatabase(databaseUrl, { max: 1, log, gate });
  const lend = async <T>(work: (client: Parameters<typeof gate.admit>[0]) => Promise<T>): Promise<T> => {
    const client = await takeConnection(db.pool);
    let failure: Error | undefined;
    try {
      return await work(client);
    } catch (error) {
      failure = error as Error;
      throw error;
    } finally {
      client.release(failure);
    }
  };
  return { db, replicaDb, databaseWatch: startDatabaseWatch({ gate, lend, log, metrics, promiseFile }) };
}
