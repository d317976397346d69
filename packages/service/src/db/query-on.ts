import type pg from 'pg';

/** Runs one prepared statement on a pool or a client. */
export async function queryOn<Row>(
  target: pg.Pool | pg.PoolClient,
  name: string,
  text: string,
  params: readonly unknown[] = [],
): Promise<Row[]> {
  const result = await target.query({ name, text, values: params as unknown[] });
  return result.rows as Row[];
}
