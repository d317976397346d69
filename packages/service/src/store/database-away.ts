import pg from 'pg';
import { WrongServerError } from './primary/primary-gate.ts';

/**
 * The database was unreachable or overloaded. `outcome` is the effect of the one statement or transaction: `nothing` when it certainly
 * changed nothing, `unknown` when the connection was lost before an answer that may have been a success.
 */
export class DatabaseAwayError extends Error {
  override name = 'DatabaseAwayError';
  readonly outcome: 'nothing' | 'unknown';
  /** True if the server answered, but gave up on a lock or a timeout. */
  readonly isBusy: boolean;

  constructor(cause: Error, outcome: 'nothing' | 'unknown', isBusy: boolean) {
    super(`the database is ${isBusy ? 'busy' : 'away'}: ${reasonOf(cause)}`, { cause });
    this.outcome = outcome;
    this.isBusy = isBusy;
  }
}

/**
 * Message of an error. For a host with several addresses, such as `localhost`, the error has no message itself, but one per address inside.
 */
const reasonOf = (error: Error): string =>
  error instanceof AggregateError && error.message === ''
    ? [...new Set(error.errors.map((each) => (each instanceof Error ? each.message : String(each))))].join('; ')
    : error.message;

/** A commit was answered although no standby has it: its wait was cancelled. */
export class UnconfirmedError extends Error {
  override name = 'UnconfirmedError';

  constructor() {
    super('the commit was not confirmed by a synchronous standby');
  }
}

/** Statement or lock timeout, serialization failure, deadlock: the server rolled back. */
const BUSY = new Set(['57014', '55P03', '40001', '40P01']);
/** No connection, shutting down, starting up, out of connections, memory or disk, a standby after a failover. */
const AWAY = /^(08...|57P0.|53...|25006|25P03|25P04)$/;
const SOCKET = new Set([
  'ECONNRESET',
  'ECONNREFUSED',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
]);
/** Messages of errors that pg and pg-pool raise without a code. */
const SAID =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client (has encountered a connection error|was closed) |Cannot use a pool after calling end)/;
const NOT_SENT = /^(timeout exceeded|Client |Cannot use a pool)/;

const isNotSent = (error: Error): boolean => error instanceof WrongServerError || NOT_SENT.test(error.message);

const codeOf = (error: Error): string => String((error as { code?: unknown }).code ?? '');

const isAway = (error: Error): boolean => {
  if (error instanceof pg.DatabaseError) return AWAY.test(codeOf(error));
  if (error instanceof WrongServerError || error instanceof UnconfirmedError) return true;
  // pg tried several addresses of one host.
  if (error instanceof AggregateError) return error.errors.some((each) => each instanceof Error && isAway(each));
  return SOCKET.has(codeOf(error)) || SAID.test(error.message);
};

/** True if the error leaves the connection unusable. */
export const isConnectionLost = (error: unknown): boolean =>
  error instanceof Error && (isAway(error) || (error instanceof pg.DatabaseError && isFatal(error)));

const isFatal = ({ severity }: pg.DatabaseError): boolean => severity === 'FATAL' || severity === 'PANIC';

/**
 * Classifies an error: a failure of the database becomes a DatabaseAwayError, any other is returned unchanged. This is the only place that
 * decides. `ifLost`: the outcome to report if the connection was lost during the work.
 */
export function asAway(error: unknown, ifLost: 'nothing' | 'unknown'): unknown {
  if (!(error instanceof Error) || error instanceof DatabaseAwayError) return error;
  if (error instanceof pg.DatabaseError && BUSY.has(codeOf(error)) && !isFatal(error))
    return new DatabaseAwayError(error, 'nothing', true);
  if (!isConnectionLost(error)) return error;
  return new DatabaseAwayError(error, isNotSent(error) ? 'nothing' : ifLost, false);
}

/**
 * True if the transaction certainly changed nothing, so that the same may be tried in smaller pieces: the server itself refused a
 * statement. A lost connection says nothing about a commit in flight, and a FATAL error is a lost connection.
 */
export const isRolledBack = (error: unknown): boolean =>
  error instanceof DatabaseAwayError ? error.isBusy : error instanceof pg.DatabaseError && !isFatal(error);

/** True if a row with the same key is there already; the transaction was undone. */
export const isDuplicate = (error: unknown): boolean => error instanceof pg.DatabaseError && codeOf(error) === '23505';

/** True if a statement waited too long for a lock; the transaction was undone. */
export const isLockTimeout = (error: unknown): boolean =>
  error instanceof DatabaseAwayError && error.cause instanceof pg.DatabaseError && codeOf(error.cause) === '55P03';
