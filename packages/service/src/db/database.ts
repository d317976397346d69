import { Kysely, PostgresDialect, type QueryCreator, type QueryExecutorProvider } from 'kysely';
import type pg from 'pg';
import { createConnectionPool, type PoolOptions } from './connection-pool.ts';
import { type Listener, type ListenHandler, type Listening, openListener } from './listener.ts';
import { queryOn } from './query-on.ts';
import type { Tables } from './tables.ts';
import { runTransaction, type TransactionOptions } from './transaction.ts';

/** Where a statement runs: on the pool, or inside one transaction. Stores take this and never ask which. */
export interface Sql {
  /** Runs a statement that the server prepares once per connection under `name`; a name belongs to one text. */
  query<Row = Record<string, unknown>>(name: string, text: string, params?: readonly unknown[]): Promise<Row[]>;
  /** Builder for statements that are put together at run time. It has no transactions: `Database.transaction` has. */
  readonly kysely: QueryCreator<Tables> & QueryExecutorProvider;
}

/** A transaction's handle, of no use once its function has returned. */
export interface Tx extends Sql {
  readonly isTransaction: true;
}

export interface Database extends Sql {
  readonly url: string;
  readonly pool: pg.Pool;
  /**
   * Commits what `fn` did, or nothing. Serialization failures and deadlocks run `fn` again (5 tries in all), so `fn` must
   * change nothing but the database. Never nests. If the connection dies during COMMIT the outcome is unknown to the caller.
   */
  transaction<T>(fn: (tx: Tx) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Calls `handler` for each NOTIFY on the channel. Only ever a hint: notifications sent while disconnected are lost. */
  listen(channel: string, handler: ListenHandler): Promise<Listening>;
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
    query: (name, text, params) => queryOn(pool, name, text, params),
    kysely: new Kysely<Tables>({ dialect: new PostgresDialect({ pool: pool as never }) }),
    transaction: (fn, transactionOptions) => runTransaction(pool, fn, transactionOptions),
    listen(channel, handler) {
      listener ??= openListener(url, log);
      return listener.listen(channel, handler);
    },
    async close() {
      await listener?.close();
      await pool.end();
    },
  };
}
