import { EventEmitter } from 'node:events';
import type pg from 'pg';
import type { Clock } from '../lib/clock.ts';
import { createConnectionPool, type PoolOptions } from './connection-pool.ts';
import { type Listener, type ListenHandler, type Listening, openListener } from './listener.ts';
import { createPrimaryGate, type PrimaryGate } from './primary/primary-gate.ts';
import { setReadReserve } from './read-reserve.ts';
import type { Flushed, Sql, Statement, Tx } from './sql.ts';
import { queueAgeMs } from './take-connection.ts';
import { queryAlone, runFlush, runTransaction, type TransactionOptions } from './transaction.ts';

export interface Database extends Sql {
  readonly url: string;
  readonly pool: pg.Pool;
  readonly gate: PrimaryGate;
  /**
   * Commits the work of `fn`, or nothing. Runs `fn` again after a serialization failure, a deadlock, or a connection lost before COMMIT was
   * sent (5 tries in all), so `fn` must change nothing but the database. Never nests. Throws DatabaseAwayError with an unknown outcome if
   * the connection is lost during COMMIT.
   */
  transaction<T>(fn: (tx: Tx) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /**
   * Commits the statements, or nothing, in one round trip: they are sent with their COMMIT, so nothing can be decided in between. State
   * conditions as guards in SQL (`require_true`); throws GuardError when one fails. Retries as `transaction` does, but not after a lost
   * connection, which always leaves the outcome unknown.
   */
  flush(statements: readonly Statement[], options?: TransactionOptions): Promise<Flushed>;
  /** Calls `handler` for each NOTIFY on the channel. A notification is only a hint: those sent while disconnected are lost. */
  listen(channel: string, handler: ListenHandler): Promise<Listening>;
  /** Calls `handler`, which never throws, for each `Tx.afterCommit` of a committed transaction on this handle. Returns how to unsubscribe. */
  onCommit(topic: string, handler: (message: string) => void): () => void;
  /** Wait of the first caller in the queue for a connection, of the pool or of its reserve for reads; 0 without a queue. */
  queueAgeMs(): number;
  /** Waits for running statements, then closes every connection. */
  close(): Promise<void>;
}

export interface DatabaseOptions extends PoolOptions {
  /** Connections besides `max` that only reads may use; default: none. */
  readReserve?: number;
}

/** Opens a pool that connects on first use. */
export function openDatabase(url: string, options: DatabaseOptions): Database {
  const { log, gate = createPrimaryGate({ url, log }), readReserve = 0 } = options;
  const pool = createConnectionPool(url, { ...options, gate });
  const reserve = readReserve > 0 ? createConnectionPool(url, { log, gate, max: readReserve }) : null;
  if (reserve) setReadReserve(pool, reserve);
  let listener: Listener | undefined;
  const committed = new EventEmitter();
  return {
    url,
    pool,
    gate,
    query: (name, text, params) => queryAlone(pool, name, text, params),
    async transaction(fn, transactionOptions) {
      const { result, messages } = await runTransaction(pool, fn, transactionOptions);
      for (const { topic, message } of messages) committed.emit(topic, message);
      return result;
    },
    flush: (statements, flushOptions) => runFlush(pool, statements, flushOptions),
    onCommit(topic, handler) {
      committed.on(topic, handler);
      return () => void committed.off(topic, handler);
    },
    listen(channel, handler) {
      listener ??= openListener(url, { log, gate });
      return listener.listen(channel, handler);
    },
    queueAgeMs: () => queueAgeMs(pool),
    async close() {
      await listener?.close();
      await Promise.all([pool.end(), reserve?.end()]);
    },
  };
}

/** The database, and the clock that dates its rows. */
export interface Store {
  readonly db: Database;
  readonly clock: Clock;
}

/** Resolves when the database answers; rejects when it cannot be asked. */
export const ping = (sql: Sql): Promise<unknown> => sql.query('ready', 'select 1');
