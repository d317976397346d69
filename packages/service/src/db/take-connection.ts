import type pg from 'pg';
import { asAway } from './database-away.ts';

interface Ticket {
  readonly sinceMs: number;
}

const queues = new WeakMap<pg.Pool, Set<Ticket>>();

/** Takes a connection from the pool and counts the wait. */
export async function takeConnection(pool: pg.Pool): Promise<pg.PoolClient> {
  const queue = queues.get(pool) ?? new Set();
  queues.set(pool, queue);
  const ticket = { sinceMs: performance.now() };
  queue.add(ticket);
  try {
    return await pool.connect();
  } catch (error) {
    throw asAway(error, 'nothing');
  } finally {
    queue.delete(ticket);
  }
}

/** Wait of the first caller in the queue while the pool is exhausted; else 0. */
export function queueAgeMs(pool: pg.Pool): number {
  const [first] = queues.get(pool) ?? [];
  return first === undefined || pool.waitingCount === 0 ? 0 : performance.now() - first.sinceMs;
}
