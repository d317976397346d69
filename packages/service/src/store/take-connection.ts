import type pg from 'pg';
import { asAway } from './database-away.ts';
import { hostsOfPool } from './primary/commit-mark.ts';
import { lendingPool, readReserveOf } from './read-reserve.ts';

interface Ticket {
  readonly sinceMs: number;
}

const queues = new WeakMap<pg.Pool, Set<Ticket>>();

/** Takes a connection from the pool, or from its reserve for reads, and counts the wait. Of several hosts, each is tried once. */
export async function takeConnection(wanted: pg.Pool): Promise<pg.PoolClient> {
  const pool = lendingPool(wanted);
  const queue = queues.get(pool) ?? new Set();
  queues.set(pool, queue);
  const ticket = { sinceMs: performance.now() };
  queue.add(ticket);
  try {
    return await connect(pool);
  } catch (error) {
    throw asAway(error, 'nothing');
  } finally {
    queue.delete(ticket);
  }
}

async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  const hosts = hostsOfPool(pool);
  for (let left = hosts?.count ?? 1; ; left--) {
    const tried = hosts?.current();
    try {
      return await pool.connect();
    } catch (error) {
      // Nobody left the host: it is not the reason.
      if (left === 1 || hosts?.current() === tried) throw error;
    }
  }
}

/** Wait of the first caller in the queue while the pool is exhausted, or of the first read while its reserve is, too; else 0. */
export function queueAgeMs(pool: pg.Pool): number {
  const reserve = readReserveOf(pool);
  return Math.max(ageOf(pool), reserve ? ageOf(reserve) : 0);
}

function ageOf(pool: pg.Pool): number {
  const [first] = queues.get(pool) ?? [];
  return first === undefined || pool.waitingCount === 0 ? 0 : performance.now() - first.sinceMs;
}
