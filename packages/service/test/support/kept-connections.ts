import pg from 'pg';
import { silentLog } from '../../src/lib/telemetry/log.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { DatabaseAwayError, isConnectionLost } from '../../src/store/database-away.ts';

/** Time after which an idle connection is closed. */
const IDLE_MS = 1000;
/** More questions at the same time wait for each other. */
const MAX_AT_ONCE = 20;

interface Kept {
  readonly pool: pg.Pool;
  /** The connection in the form of a node's database, for functions of the node. */
  readonly db: Database;
}

const known = new Set<string>();
const kept = new Map<string, Kept>();

/** From now on, questions to this database share connections: opening one costs the server a process, and most of what a question costs. */
export const keepConnections = (url: string): void => void known.add(url);

/** Closes the connections that are kept; `for good`: those to come as well. */
export async function endConnections(url: string, isForGood: boolean): Promise<void> {
  if (isForGood) known.delete(url);
  const each = kept.get(url);
  kept.delete(url);
  await Promise.all([each?.pool.end(), each?.db.close()]);
}

function connectionsTo(url: string): Kept {
  const before = kept.get(url);
  if (before) return before;
  const pool = new pg.Pool({
    connectionString: url,
    max: MAX_AT_ONCE,
    idleTimeoutMillis: IDLE_MS,
    allowExitOnIdle: true,
  });
  // Some tests end all connections: the next question opens another.
  pool.on('error', () => undefined);
  const opened = { pool, db: openDatabase(url, { max: 1, log: silentLog }) };
  kept.set(url, opened);
  return opened;
}

/** Lets `work` ask the database: over a connection that is kept, if the database is known, else over one of its own. */
export async function withClient<T>(url: string, work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
  if (!known.has(url)) return withOwnClient(url, work);
  try {
    return await withKeptClient(url, work);
  } catch (error) {
    // It was lost while nobody used it.
    if (isConnectionLost(error)) return withOwnClient(url, work);
    throw error;
  }
}

async function withKeptClient<T>(url: string, work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
  const client = await connectionsTo(url).pool.connect();
  client.on('error', ignore);
  let hasFailed = true;
  try {
    const result = await work(client);
    hasFailed = false;
    return result;
  } finally {
    client.off('error', ignore);
    // What failed may have left a transaction open.
    client.release(hasFailed);
  }
}

async function withOwnClient<T>(url: string, work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
  const client = new pg.Client(url);
  // A connection that is lost fails its query; it need not fail the test run as well.
  client.on('error', ignore);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const ignore = () => undefined;

/** Runs work with a node's database; `work` may run twice. */
export async function withDatabaseOf<T>(url: string, work: (db: Database) => Promise<T>): Promise<T> {
  if (!known.has(url)) return withOwnDatabase(url, work);
  try {
    return await work(connectionsTo(url).db);
  } catch (error) {
    if (error instanceof DatabaseAwayError) return withOwnDatabase(url, work);
    throw error;
  }
}

async function withOwnDatabase<T>(url: string, work: (db: Database) => Promise<T>): Promise<T> {
  const db = openDatabase(url, { max: 1, log: silentLog });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}
