import type { KnownCaller } from '../../access/caller/caller.ts';
import { isVisitor } from '../../access/caller/keyless-caller.ts';
import type { Limits } from '../../config-limits.ts';
import type { HasDb } from '../../db/database.ts';
import { AppError } from '../../lib/app-error.ts';
import { createBoundedCache } from '../../lib/bounded-cache.ts';
import type { HasClock } from '../../lib/clock.ts';
import { singleFlight } from '../../lib/concurrency/single-flight.ts';
import { removeContentsOf, storedBytes } from './storage-store.ts';

/** Bytes of requests that accounts have stored: tasks, inputs, metadata, results and streams. */
export interface StorageMeter {
  /** The limit of the account, and its bytes: as they are now, or as a request of the last minute found them while they were below half of the limit. */
  read(account: Pick<KnownCaller, 'accountId' | 'plan' | 'node'>): Promise<{ stored: number; limit: number }>;
  /** Removes the oldest contents of an account that visitors share while it is over their limit: it shuts nobody out. */
  makeRoom(accountId: string): Promise<void>;
}

export interface HasStorageMeter {
  readonly storageMeter: StorageMeter;
}

/** After this an account that makes requests is read again, beside its requests. */
const FRESH_MS = 1_000;
/** After this its request waits for the reading. */
const KNOWN_MS = 60_000;
const MAX_KNOWN = 50_000;
/** Of each account that visitors share. */
const VISITOR_BYTES = 32 * 1024 * 1024;
const STEP = { most: 50, mostBytes: 8 * 1024 * 1024 };
const MAX_STEPS = 8;

/**
 * An account that is far from its limit is read once a second while it makes requests, and none of them waits for it: those that run may
 * exceed the limit, so it is no exact one. A node that passes calls on stands for many callers, of whom none is to fill it for all.
 */
export function createStorageMeter(ctx: HasDb & HasClock, limits: Limits['storageLimits']): StorageMeter {
  const known = createBoundedCache<{ readonly stored: number; readonly readMs: number }>(MAX_KNOWN);

  async function readNow(accountId: string): Promise<number> {
    const stored = Number(await storedBytes(ctx.db, accountId));
    known.set(accountId, { stored, readMs: ctx.clock.now().getTime() });
    return stored;
  }

  const byAccount = (accountId: string) => accountId;
  const readOnce = singleFlight(readNow, byAccount);

  async function removeOldest(accountId: string): Promise<void> {
    for (let step = 0; step < MAX_STEPS; step++) {
      if ((await readNow(accountId)) < VISITOR_BYTES) return;
      const now = ctx.clock.now();
      const removed = await ctx.db.transaction((tx) =>
        removeContentsOf(tx, [accountId], { endedBefore: now, now }, STEP),
      );
      if (removed === 0) return;
    }
  }

  return {
    makeRoom: singleFlight(removeOldest, byAccount),
    async read({ accountId, plan, node }) {
      const limit = limits[node === 'online' ? 'node' : plan];
      const last = known.get(accountId);
      if (!last || last.stored >= limit / 2) return { stored: await readNow(accountId), limit };
      const ageMs = ctx.clock.now().getTime() - last.readMs;
      if (ageMs >= KNOWN_MS) return { stored: await readOnce(accountId), limit };
      // Without the database the request itself fails.
      if (ageMs >= FRESH_MS) readOnce(accountId).catch(() => undefined);
      return { stored: last.stored, limit };
    },
  };
}

/** Throws STORAGE_LIMIT_EXCEEDED, before any charge, when the account is over its storage limit; that of visitors loses its oldest contents. */
export async function requireStorage(ctx: HasStorageMeter, caller: KnownCaller): Promise<void> {
  if (isVisitor(caller)) return ctx.storageMeter.makeRoom(caller.accountId);
  const { stored, limit } = await ctx.storageMeter.read(caller);
  if (stored < limit) return;
  throw new AppError(
    'STORAGE_LIMIT_EXCEEDED',
    'The stored request contents of the account have reached its limit; they are removed after their retention period. Nothing was charged.',
    { details: { storedBytes: stored, limitBytes: limit } },
  );
}
