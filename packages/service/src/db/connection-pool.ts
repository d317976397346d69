import pg from 'pg';
import type { Log } from '../lib/log/log.ts';
import { openSocket } from './open-socket.ts';
import { watchSilence } from './silence-watch.ts';

export interface PoolOptions {
  max?: number;
  log: Log;
}

const STATEMENT_TIMEOUT_MS = 30_000;
const LOCK_TIMEOUT_MS = 10_000;
/** No transaction waits for anything but the database: one that pauses for so long has lost its client. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 5_000;
/** A connection that nothing was heard on for so long is probed each second, ten times: a vanished host is known within 15 s. */
const KEEP_ALIVE_AFTER_MS = 5_000;
/** The server looks after its side in the same way, and frees what a vanished client has locked. */
const SERVER_OPTIONS = '-c tcp_keepalives_idle=5 -c tcp_keepalives_interval=1 -c tcp_keepalives_count=10';
const DEFAULT_MAX = 20;
const INT8 = 20;
const INT8_ARRAY = 1016;
const parseTextArray = pg.types.getTypeParser(INT8_ARRAY as never) as (text: string) => (string | null)[];

const types = new pg.TypeOverrides();
types.setTypeParser(INT8, (text) => BigInt(text));
types.setTypeParser(INT8_ARRAY, (text) => parseTextArray(text).map(toBigInt));

/** Options of every database connection of a node: server-side timeouts, and TCP keep-alive that detects a dead peer. */
export const connectionOptions = (url: string, label = 'agent-network') => ({
  connectionString: url,
  keepAlive: true,
  keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
  connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  statement_timeout: STATEMENT_TIMEOUT_MS,
  lock_timeout: LOCK_TIMEOUT_MS,
  idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
  application_name: label,
  options: SERVER_OPTIONS,
  stream: openSocket,
});

/**
 * A pool whose int8 columns are bigint, numeric text, timestamptz Date. Every statement has time limits on the server. A lost
 * connection is logged and replaced; the statement that was running on it fails.
 */
export function createConnectionPool(url: string, { max = DEFAULT_MAX, log }: PoolOptions): pg.Pool {
  const pool = new pg.Pool({ ...connectionOptions(url), max, types, pipeline: true });
  surviveConnectionLoss(pool, log);
  watchSilence(pool, { url, log });
  return pool;
}

/** Connects, with somebody to hear of the connection's loss from its first moment on: unheard, that would end the process. */
export async function openClient(
  options: pg.ClientConfig,
  onLost: (error: Error) => void = () => undefined,
): Promise<pg.Client> {
  const client = new pg.Client(options);
  client.on('error', onLost);
  await client.connect();
  return client;
}

/** Without listeners, an error on any connection of the pool would end the process. */
export function surviveConnectionLoss(pool: pg.Pool, log: Log): void {
  pool.on('error', (err) => log.warn({ err }, 'lost an idle database connection'));
  pool.on('connect', (client) => {
    client.on('error', (err) => log.debug({ err }, 'lost a database connection'));
  });
}

function toBigInt(text: string | null): bigint | null {
  return text === null ? null : BigInt(text);
}
