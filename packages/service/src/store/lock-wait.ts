import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { singleFlight } from '../lib/concurrency/single-flight.ts';
import type { Telemetry } from '../lib/telemetry/telemetry.ts';
import { connectionOptions } from './connection-pool.ts';
import { clientOn } from './primary/database-hosts.ts';

interface Blocker {
  readonly pid: number;
  readonly role: string | null;
  readonly application: string | null;
}

interface LockWait extends Pick<Telemetry, 'log'> {
  readonly url: string;
  /** The server's process of the connection that works; its `lock_timeout` is `waitMs`. */
  readonly pid: number;
  readonly waitMs: number;
}

const LOOKS_IN_A_WAIT = 3;

/**
 * Retries work on the schema until it gets its locks. Statements behind one that waits for a table wait too, even reads, so each wait is
 * short, and others run in the pauses. `work` has rolled back when it throws.
 */
export async function repeatHeldUp(wait: LockWait, work: () => Promise<void>): Promise<void> {
  for (;;) {
    const blockers = watchBlockers(wait);
    try {
      return await work();
    } catch (error) {
      if (!isHeldUp(error)) throw error;
      const reason = (error as Error).message;
      wait.log.warn({ reason, heldUpBy: blockers.seen() }, 'migrating waits for locks that others hold; trying again');
    } finally {
      await blockers.stop();
    }
    await delay(wait.waitMs);
  }
}

const isHeldUp = (error: unknown): boolean =>
  error instanceof Error &&
  [error, error.cause].some((each) => each instanceof pg.DatabaseError && each.code === '55P03');

/**
 * Polls, on a connection of its own, for the holders of the lock that another connection waits for. Afterwards they can't be found any
 * more.
 */
function watchBlockers({ url, log, pid, waitMs }: LockWait) {
  let blockers: readonly Blocker[] = [];
  let looking: Promise<void> | null = null;

  async function look(): Promise<void> {
    const client = new (clientOn(url))(connectionOptions(url, 'agent-network migrate'));
    client.on('error', () => undefined);
    try {
      await client.connect();
      const { rows } = await client.query<Blocker>(
        `select b.pid, a.usename as role, a.application_name as application
           from unnest(pg_blocking_pids($1)) b(pid) left join pg_stat_activity a using (pid)`,
        [pid],
      );
      if (rows.length > 0) blockers = rows;
    } catch (err) {
      log.debug({ err }, 'cannot see who holds up a migration');
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  const lookOnce = singleFlight(look);
  const timer = setInterval(() => {
    looking = lookOnce();
  }, waitMs / LOOKS_IN_A_WAIT);
  return {
    seen: () => blockers,
    async stop(): Promise<void> {
      clearInterval(timer);
      await looking;
    },
  };
}
