import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { invariant } from '../lib/invariant.ts';
import { traced } from '../lib/telemetry/tracing.ts';
import { asAway, DatabaseAwayError, isConnectionLost, UnconfirmedError } from './database-away.ts';
import { commitOn, isUnconfirmed } from './primary/commit-mark.ts';
import type { Flushed, Statement, Tx } from './sql.ts';
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
/** Raised by `require_true` (migration 0142). */
const GUARD_FAILED = 'AN001';
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
  return retrying(() => runOnce(pool, fn, options));
}

/** See Database.flush. */
export function runFlush(
  pool: pg.Pool,
  statements: readonly Statement[],
  options: TransactionOptions = {},
): Promise<Flushed> {
  for (const { params } of statements) requireSendable(params);
  return retrying(() => flushOnce(pool, statements, options));
}

async function retrying<T>(work: () => Promise<T>): Promise<T> {
  invariant(currentScope.getStore()?.open !== true, 'a transaction was opened inside a transaction');
  for (let tryNumber = 1; ; tryNumber++) {
    const startMs = performance.now();
    try {
      return await work();
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

/** A guard (`require_true` in SQL) of a flush did not hold: nothing was changed. */
export class GuardError extends Error {
  override name = 'GuardError';
}

async function flushOnce(
  pool: pg.Pool,
  statements: readonly Statement[],
  options: TransactionOptions,
): Promise<Flushed> {
  const client = await takeConnection(pool);
  let broken: Error | undefined;
  try {
    for (const { name, text } of statements) invariant(isNameOf(client, name, text), `${name} has two texts`);
    const [begun, answers, committed] = await traced('database flush', 'client', toPostgres, () =>
      // All of it is sent before any of it is awaited, COMMIT last: what arrives in part has no COMMIT.
      Promise.all([
        Promise.allSettled([begin(client, options)]),
        Promise.allSettled(statements.map((statement) => client.query(toQuery(statement)))),
        Promise.allSettled([commitOn(client).catch(asRolledBack)]),
      ]),
    );
    const failed = [...begun, ...answers, ...committed].find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
    const [commit] = committed;
    if (commit.status === 'fulfilled' && commit.value !== 'COMMIT') throw new Error('the transaction was rolled back');
    if (isUnconfirmed(client)) throw new UnconfirmedError();
    const rows = answers.map((answer) => (answer.status === 'fulfilled' ? answer.value.rows : []));
    return { rowsOf: <Row>(statement: Statement<Row>) => rows[statements.indexOf(statement)] as Row[] };
  } catch (error) {
    await client.query('rollback').catch((rollbackError: Error) => {
      broken = rollbackError;
    });
    if (isConnectionLost(error)) broken ??= error as Error;
    if (error instanceof pg.DatabaseError && error.code === GUARD_FAILED) throw new GuardError(error.message);
    // COMMIT was sent with the rest.
    throw asAway(error, 'unknown');
  } finally {
    client.release(broken);
  }
}

const toPostgres = () => ({ 'db.system.name': 'postgresql' });

const toQuery = ({ name, text, params }: Statement): pg.QueryConfig => ({
  ...(name === '' ? {} : { name }),
  ...{ text, values: [...params] },
});

/** pg turns values into text while it sends; one that it cannot turn would be left out, and the rest committed. */
function requireSendable(values: readonly unknown[]): void {
  for (const value of values) {
    if (Array.isArray(value)) requireSendable(value);
    else
      invariant(
        value === null || value === undefined || typeof value !== 'object'
          ? typeof value !== 'symbol' && typeof value !== 'function'
          : value instanceof Date || value instanceof Uint8Array,
        'a value of a flush cannot be sent',
      );
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

/** By connection, the text of each name. */
const textsOn = new WeakMap<object, Map<string, string>>();

/** True unless the name already has another text on this connection: pg would not send the statement, but would send the ones after it. */
function isNameOf(client: pg.Pool | pg.PoolClient, name: string, text: string): boolean {
  const texts = textsOn.get(client) ?? new Map<string, string>();
  if (texts.size === 0) textsOn.set(client, texts);
  const known = texts.get(name) ?? text;
  texts.set(name, known);
  return known === text || name === '';
}

/** Runs one prepared statement on the client of a transaction; its errors are not classified. */
async function queryOn<Row>(
  target: pg.Pool | pg.PoolClient,
  name: string,
  text: string,
  params: readonly unknown[] = [],
): Promise<Row[]> {
  isNameOf(target, name, text);
  const query = () => target.query({ name, text, values: params as unknown[] });
  const result = await traced(`database ${name}`, 'client', () => ({ 'db.system.name': 'postgresql' }), query);
  return result.rows as Row[];
}

/** Runs one prepared statement on a connection of the pool, as its own transaction. */
export async function queryAlone<Row>(
  pool: pg.Pool,
  name: string,
  text: string,
  params: readonly unknown[] = [],
): Promise<Row[]> {
  const client = await takeConnection(pool);
  let failure: unknown;
  try {
    const rows = await queryOn<Row>(client, name, text, params);
    if (isUnconfirmed(client)) throw new UnconfirmedError();
    return rows;
  } catch (error) {
    failure = error;
    throw asAway(error, 'unknown');
  } finally {
    client.release(isConnectionLost(failure));
  }
}
