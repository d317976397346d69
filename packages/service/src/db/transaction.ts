import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { invariant } from '../lib/invariant.ts';
import { asAway, DatabaseAwayError, isConnectionLost, UnconfirmedError } from './database-away.ts';
import { commitOn, isUnconfirmed } from './primary/commit-mark.ts';
import { queryOn } from './query-on.ts';
import type { Tx } from './sql.ts';
import { takeConnection } from './take-connection.ts';

export interface TransactionOptions {
  /** Default: read committed. */
  isolation?: 'read committed' | 'repeatable read' | 'serializable';
  /** Limit of each wait for a lock; default: that of the connection. */
  lockTimeoutMs?: number;
}

const MAX_TRIES = 5;
const SERIALIZATION_FAILURE = '40001';
const DEADLOCK = '40P01';
const IN_FAILED_TRANSACTION = '25P02';
const FIRST_RETRY_MS = 10;
/** Time limit for retrying a lost connection. A later loss is not a stale pooled connection: the database is away. */
const RETRY_LOST_WITHIN_MS = 2_000;

interface Scope {
  open: boolean;
}

interface CommitMessage {
  readonly topic: string;
  readonly message: string;
}

interface Committed<T> {
  readonly result: T;
  /** Messages of `Tx.afterCommit`. */
  readonly messages: readonly CommitMessage[];
}

const currentScope = new AsyncLocalStorage<Scope>();

/** See Database.transaction. */
export async function runTransaction<T>(
  pool: pg.Pool,
  fn: (tx: Tx) => Promise<T>,
  options: TransactionOptions = {},
): Promise<Committed<T>> {
  invariant(currentScope.getStore()?.open !== true, 'a transaction was opened inside a transaction');
  for (let tryNumber = 1; ; tryNumber++) {
    const startMs = performance.now();
    try {
      return await runOnce(pool, fn, options);
    } catch (error) {
      if (tryNumber === MAX_TRIES || !isRetryable(error, performance.now() - startMs)) throw asAway(error, 'unknown');
      await delay(Math.random() * FIRST_RETRY_MS * 2 ** tryNumber);
    }
  }
}

/** The connection was lost before COMMIT was sent: the transaction changed nothing. */
class LostBeforeCommitError extends DatabaseAwayError {}

async function runOnce<T>(
  pool: pg.Pool,
  fn: (tx: Tx) => Promise<T>,
  options: TransactionOptions,
): Promise<Committed<T>> {
  const client = await takeConnection(pool);
  const scope: Scope = { open: true };
  const messages: CommitMessage[] = [];
  let isCommitSent = false;
  let broken: Error | undefined;
  try {
    // Sent together with the first statement: it fails only with the connection.
    const begun = begin(client, options);
    const result = await currentScope.run(scope, () => afterAll(begun, fn(handleOn(client, scope, messages))));
    scope.open = false;
    isCommitSent = true;
    const command = await commitOn(client).catch(asRolledBack);
    // The server answers COMMIT with ROLLBACK when a failed statement's error was swallowed.
    if (command !== 'COMMIT') throw new Error('the transaction was rolled back: one of its statements had failed');
    if (isUnconfirmed(client)) throw new UnconfirmedError();
    return { result, messages };
  } catch (error) {
    scope.open = false;
    await client.query('rollback').catch((rollbackError: Error) => {
      broken = rollbackError;
    });
    if (isConnectionLost(error)) broken ??= error as Error;
    // `fn` may throw such an error of another connection: it is ours only if this connection is gone.
    if (broken && !isCommitSent && isConnectionLost(error))
      throw new LostBeforeCommitError(error as Error, 'nothing', false);
    throw asAway(error, isCommitSent ? 'unknown' : 'nothing');
  } finally {
    client.release(broken);
  }
}

async function begin(client: pg.PoolClient, { isolation, lockTimeoutMs }: TransactionOptions): Promise<void> {
  await Promise.all([
    client.query(isolation === undefined ? 'begin' : `begin isolation level ${isolation}`),
    lockTimeoutMs === undefined ? null : client.query(`set local lock_timeout = ${lockTimeoutMs}`),
  ]);
}

/** The server ran nothing of it: the transaction had failed before. */
function asRolledBack(error: unknown): string {
  if (error instanceof pg.DatabaseError && error.code === IN_FAILED_TRANSACTION) return 'ROLLBACK';
  throw error;
}

async function afterAll<T>(begun: Promise<unknown>, done: Promise<T>): Promise<T> {
  const [result] = await Promise.all([done, begun]);
  return result;
}

function handleOn(client: pg.PoolClient, scope: Scope, messages: CommitMessage[]): Tx {
  return {
    isTransaction: true,
    afterCommit: (topic, message) => void messages.push({ topic, message }),
    async query<Row>(name: string, text: string, params?: readonly unknown[]): Promise<Row[]> {
      invariant(scope.open, 'a transaction was used after its end');
      return queryOn<Row>(client, name, text, params);
    },
  };
}

function isRetryable(error: unknown, tookMs: number): boolean {
  if (error instanceof LostBeforeCommitError) return tookMs < RETRY_LOST_WITHIN_MS;
  const { cause } = error instanceof DatabaseAwayError ? error : { cause: error };
  return cause instanceof pg.DatabaseError && (cause.code === SERIALIZATION_FAILURE || cause.code === DEADLOCK);
}
