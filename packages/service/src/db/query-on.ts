import type pg from 'pg';
import { traced } from '../lib/tracing/tracing.ts';
import { asAway, isConnectionLost, UnconfirmedError } from './database-away.ts';
import { isUnconfirmed } from './primary/commit-mark.ts';
import { takeConnection } from './take-connection.ts';

/** Runs one prepared statement on the client of a transaction; its errors are not classified. */
export async function queryOn<Row>(
  target: pg.Pool | pg.PoolClient,
  name: string,
  text: string,
  params: readonly unknown[] = [],
): Promise<Row[]> {
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
