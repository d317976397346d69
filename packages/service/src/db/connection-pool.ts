import pg from 'pg';
import type { Log } from '../lib/log.ts';
import { openSocket } from './open-socket.ts';

export interface PoolOptions {
  max?: number;
  log: Log;
}

const STATEMENT_TIMEOUT_MS = 30_000;
const LOCK_TIMEOUT_MS = 10_000;
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 30_000;
const CONNECT_TIMEOUT_MS = 10_000;
const DEFAULT_MAX = 20;
const INT8 = 20;
const INT8_ARRAY = 1016;
const parseTextArray = pg.types.getTypeParser(INT8_ARRAY as never) as (text: string) => (string | null)[];

const types = new pg.TypeOverrides();
types.setTypeParser(INT8, (text) => BigInt(text));
types.setTypeParser(INT8_ARRAY, (text) => parseTextArray(text).map(toBigInt));

/**
 * A pool whose int8 columns are bigint, numeric text, timestamptz Date. Every statement has time limits on the server. A lost
 * connection is logged and replaced; the statement that was running on it fails.
 */
export function createConnectionPool(url: string, { max = DEFAULT_MAX, log }: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    types,
    keepAlive: true,
    pipeline: true,
    stream: openSocket,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    lock_timeout: LOCK_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
    application_name: 'agent-network',
  });
  surviveConnectionLoss(pool, log);
  return pool;
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
