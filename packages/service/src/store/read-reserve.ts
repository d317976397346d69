import { AsyncLocalStorage } from 'node:async_hooks';
import type pg from 'pg';

/** Connections of a pool that only reads may use, so that no read waits behind everything that writes. */
const reserves = new WeakMap<pg.Pool, pg.Pool>();
const reading = new AsyncLocalStorage<true>();

export function setReadReserve(pool: pg.Pool, reserve: pg.Pool): void {
  reserves.set(pool, reserve);
}

export const readReserveOf = (pool: pg.Pool): pg.Pool | undefined => reserves.get(pool);

/** Runs work with its statements allowed to use the reserve. */
export const asRead = <T>(work: () => T): T => reading.run(true, work);

/** The pool that lends the next connection. A read takes one that is at hand, from the reserve first; it waits for the reserve. */
export function lendingPool(pool: pg.Pool): pg.Pool {
  const reserve = reserves.get(pool);
  if (!reserve || !reading.getStore()) return pool;
  return !hasRoom(reserve) && hasRoom(pool) ? pool : reserve;
}

const hasRoom = ({ idleCount, totalCount, waitingCount, options }: pg.Pool) =>
  waitingCount === 0 && (idleCount > 0 || totalCount < (options.max ?? 0));
