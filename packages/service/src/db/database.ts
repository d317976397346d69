import type pg from 'pg';
import { createConnectionPool, type PoolOptions } from './connection-pool.ts';
import { type Listener, type ListenHandler, type Listening, openListener } from './listener.ts';
import { queryAlone } from './query-on.ts';
import type { Sql, Tx } from './sql.ts';
import { queueAgeMs } from './take-connection.ts';
import { runTransaction, type TransactionOptions } from './transaction.ts';

export interface Database extends Sql {
  readonly url: string;
  readonly pool: pg.Pool;
  /**
   * Commits what `fn` did, or nothing. Serialization failures and deadlocks run `fn` again (5 tries in all), so `fn` must
   * change nothing but the database; so does a connection that is lost before COMMIT was sent. Never nests. If the connection dies
   * during COMMIT the outcome is unknown to the caller: a DatabaseAwayError says so.
   */
  transaction<T>(fn: (tx: Tx) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Calls `handler` for each NOTIFY on the channel. Only ever a hint: notifications sent while disconnected are lost. */
  listen(channel: string, handler: ListenHandler): Promise<Listening>;
  /** For how long the first in the line for a connection has waited; 0 while there is no line. */
  queueAgeMs(): number;
  /** Waits for running statements, then closes every connection. */
  close(): Promise<void>;
}

export interface HasDb {
  db: Database;
}

/** Opens a pool; connections are made when first needed. */
export function openDatabase(url: string, options: PoolOptions): Database {
  const pool = createConnectionPool(url, options);
  const { log } = options;
  let listener: Listener | undefined;
  return {
    url,
    pool,
    query: (name, text, params) => queryAlone(pool, name, text, params),
    transaction: (fn, transactionOptions) => runTransaction(pool, fn, transactionOptions),
    listen(channel, handler) {
      listener ??= openListener(url, log);
      return listener.listen(channel, handler);
    },
    queueAgeMs: () => queueAgeMs(pool),
    async close() {
      await listener?.close();
      await pool.end();
    },
  };
}
