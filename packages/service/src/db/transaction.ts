import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { invariant } from '../lib/invariant.ts';
import { queryOn } from './query-on.ts';
import type { Tx } from './sql.ts';

export interface TransactionOptions {
  /** Default: read committed. */
  isolation?: 'read committed' | 'repeatable read' | 'serializable';
}

const MAX_TRIES = 5;
const SERIALIZATION_FAILURE = '40001';
const DEADLOCK = '40P01';
const FIRST_RETRY_MS = 10;

interface Scope {
  open: boolean;
}
const currentScope = new AsyncLocalStorage<Scope>();

/** See Database.transaction. */
export async function runTransaction<T>(
  pool: pg.Pool,
  fn: (tx: Tx) => Promise<T>,
  options: TransactionOptions = {},
): Promise<T> {
  invariant(currentScope.getStore()?.open !== true, 'a transaction was opened inside a transaction');
  for (let tryNumber = 1; ; tryNumber++) {
    try {
      return await runOnce(pool, fn, options);
    } catch (error) {
      if (tryNumber === MAX_TRIES || !isRetryable(error)) throw error;
      await delay(Math.random() * FIRST_RETRY_MS * 2 ** tryNumber);
    }
  }
}

async function runOnce<T>(pool: pg.Pool, fn: (tx: Tx) => Promise<T>, { isolation }: TransactionOptions): Promise<T> {
  const client = await pool.connect();
  const scope: Scope = { open: true };
  let broken: Error | undefined;
  try {
    // Sent along with the first statement: it cannot fail but with the connection.
    const begun = client.query(isolation === undefined ? 'begin' : `begin isolation level ${isolation}`);
    const result = await currentScope.run(scope, () => afterAll(begun, fn(handleOn(client, scope))));
    scope.open = false;
    const { command } = await client.query('commit');
    // The server answers COMMIT with ROLLBACK when a failed statement's error was swallowed.
    if (command !== 'COMMIT') throw new Error('the transaction was rolled back: one of its statements had failed');
    return result;
  } catch (error) {
    scope.open = false;
    await client.query('rollback').catch((rollbackError: Error) => {
      broken = rollbackError;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

async function afterAll<T>(begun: Promise<unknown>, done: Promise<T>): Promise<T> {
  const [result] = await Promise.all([done, begun]);
  return result;
}

function handleOn(client: pg.PoolClient, scope: Scope): Tx {
  return {
    isTransaction: true,
    async query<Row>(name: string, text: string, params?: readonly unknown[]): Promise<Row[]> {
      invariant(scope.open, 'a transaction was used after its end');
      return queryOn<Row>(client, name, text, params);
    },
  };
}

function isRetryable(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === SERIALIZATION_FAILURE || error.code === DEADLOCK);
}
