import type { Sql } from './sql.ts';

/**
 * Sends a NOTIFY to every process that listens on the channel, without waiting. It is only a hint: lost while the database is away, and a
 * process that misses it finds the stored state.
 */
export function notify(sql: Sql, channel: string, payload: string): void {
  void sql.query('notify', 'select pg_notify($1, $2)', [channel, payload]).catch(() => undefined);
}
