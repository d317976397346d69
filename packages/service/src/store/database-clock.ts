import { setTimeout as delay } from 'node:timers/promises';
import { type Clock, systemClock } from '../lib/clock.ts';
import type { Log } from '../lib/telemetry/log.ts';
import type { Telemetry } from '../lib/telemetry/telemetry.ts';
import type { Sql } from './sql.ts';

/** The time of the database, which all processes of a node share: times that one process writes are judged by the others. */
export interface DatabaseClock extends Clock {
  /** Minimum lead of this machine's clock over the database's, in seconds: 0 within the precision of the measurement. */
  offsetS(): number;
  stop(): Promise<void>;
}

export interface DatabaseClockOptions extends Telemetry {
  readonly db: Sql;
  /** This machine's clock; tests put it wrong. */
  readonly own?: Clock;
}

const FIRST_LOOKS = 3;
const LOOK_MS = 2_000;
/** Offset above which the log has a warning. */
const TOLERATED_MS = 2_000;

/**
 * Starts with the database's time, and compares again every 2 s. The server's answer lies between request and response, so each comparison
 * gives an interval. The correction changes only as far as the interval proves it wrong, so slow answers do no harm, and a machine with a
 * correct clock keeps it. A step of this machine's clock is corrected after 2 s at most, or when the database is back.
 */
export async function startDatabaseClock({
  db,
  log,
  metrics,
  own = systemClock,
}: DatabaseClockOptions): Promise<DatabaseClock> {
  const stopping = new AbortController();
  let correctionMs = 0;
  let toldMs = 0;

  const look = async (): Promise<void> => {
    const askedMs = own.now().getTime();
    const [row] = await db.query<{ ms: number }>(
      'database-time',
      'select extract(epoch from clock_timestamp())::float8 * 1000 as ms',
    );
    // Both readings are whole milliseconds, rounded down.
    const answeredMs = own.now().getTime() + 1;
    if (!row) return;
    correctionMs = Math.min(Math.max(correctionMs, row.ms - answeredMs), row.ms - askedMs);
    metrics.clockOffset.set({ reference: 'database' }, offsetS());
    if (Math.abs(-correctionMs - toldMs) < TOLERATED_MS) return;
    toldMs = Math.abs(correctionMs) < TOLERATED_MS ? 0 : -correctionMs;
    tell(log, offsetS(), toldMs !== 0);
  };
  const offsetS = () => (correctionMs === 0 ? 0 : Math.round(-correctionMs) / 1000);
  const loop = async (): Promise<void> => {
    for (;;) {
      await delay(LOOK_MS, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
      if (stopping.signal.aborted) return;
      await look().catch((err: unknown) => log.debug({ err }, 'cannot read the time of the database'));
    }
  };

  for (let count = 0; count < FIRST_LOOKS; count++) await look();
  const looping = loop();
  return {
    now: () => new Date(own.now().getTime() + Math.round(correctionMs)),
    offsetS,
    async stop() {
      stopping.abort();
      await looping;
    },
  };
}

function tell(log: Log, offsetS: number, isOff: boolean): void {
  if (isOff)
    log.warn(
      { offsetS, remedy: 'docs/alerts.md#clockoff' },
      'the clock of this machine is off: that of the database is used instead; set it by NTP',
    );
  else log.info({ offsetS }, 'the clock of this machine agrees with the database again');
}
