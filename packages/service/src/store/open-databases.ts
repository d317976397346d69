import type { Telemetry } from '../lib/telemetry/telemetry.ts';
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
  /** Has one connection of its own: when the pool is exhausted, the copies in memory are still refreshed. */
  readonly replicaDb: Database;
  readonly databaseWatch: DatabaseWatch;
}

/** Share of the connections reserved for reads, as admitted writes may fill the rest. */
const RESERVED_FOR_READS = 1 / 4;

/** Opens the databases of a node behind one gate. */
export function openDatabases(
  { databaseUrl, gate, promiseFile, max }: DatabaseParts,
  { log, metrics }: Telemetry,
): Databases {
  const readReserve = Math.floor(max * RESERVED_FOR_READS);
  const db = openDatabase(databaseUrl, { max: max - readReserve, readReserve, log, gate });
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
