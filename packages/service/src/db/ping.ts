import type { Sql } from './sql.ts';

/** Resolves when the database answers; rejects when it cannot be asked. */
export const ping = (sql: Sql): Promise<unknown> => sql.query('ready', 'select 1');
