import { Logger } from 'graphile-worker';
import type { Log } from '../lib/log/log.ts';

/** Writes graphile-worker's messages to our log: its routine ones as debug. */
export function graphileLog(log: Log): Logger {
  const levels = { error: 'error', warning: 'warn', info: 'debug', debug: 'trace' } as const;
  return new Logger((scope) => (level, message, meta) => {
    log[levels[level]]({ ...scope, ...(meta.error === undefined ? {} : { err: meta.error }) }, message);
  });
}
