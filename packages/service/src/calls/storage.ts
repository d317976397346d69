import type { KnownCaller } from '../accounts/caller.ts';
import { isVisitor } from '../accounts/keyless-caller.ts';
import { visitorAccountIds } from '../accounts/payer-account.ts';
import type { Limits } from '../config/limits.ts';
import { AppError } from '../lib/app-error.ts';
import { createBoundedCache } from '../lib/bounded-cache.ts';
import { createFairPace, type FairPace } from '../lib/concurrency/fair-pace.ts';
import { singleFlight } from '../lib/concurrency/single-flight.ts';
import { HOUR_MS } from '../lib/duration.ts';
import { jsonSizeUpTo } from '../lib/json/json-limits.ts';
import { daysBefore, type Retention, removeInSteps } from '../lib/retention.ts';
import type { Store } from '../store/database.ts';
import {
  aggregateStorage,
  removeChunks,
  removeContents,
  removeContentsOf,
  removeQuotes,
  storedBytes,
} from './storage-store.ts';

/** Bytes of requests that accounts have stored: tasks, inputs, metadata, results and streams. */
export interface StorageMeter {
  /** The limit of the account and its stored bytes: current, or up to a minute old if they were below half of the limit. */
  read(account: Pick<KnownCaller, 'accountId' | 'plan' | 'node'>): Promise<{ stored: number; limit: number }>;
  /** Removes the oldest contents of a shared visitor account while it is over its limit, so that it stays open to other visitors. */
  makeRoom(accountId: string): Promise<void>;
}

/** Age from which an active account is read again, in the background. */
const FRESH_MS = 1_000;
/** After this its request waits for the reading. */
const KNOWN_MS = 60_000;
const MAX_KNOWN = 50_000;
/** Storage limit of each account that visitors share. */
const VISITOR_BYTES = 32 * 1024 * 1024;
const STEP = { most: 50, mostBytes: 8 * 1024 * 1024 };
const MAX_STEPS = 8;

/**
 * An account far from its limit is read once a second while it makes requests, without making them wait: running ones may exceed the limit,
 * so it is not exact. A node that forwards calls has many callers, so it has a higher limit.
 */
export function createStorageMeter(ctx: Store, limits: Limits['storageLimits']): StorageMeter {
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
export async function requireStorage(ctx: { readonly storageMeter: StorageMeter }, caller: KnownCaller): Promise<void> {
  if (isVisitor(caller)) return ctx.storageMeter.makeRoom(caller.accountId);
  const { stored, limit } = await ctx.storageMeter.read(caller);
  if (stored < limit) return;
  throw new AppError(
    'STORAGE_LIMIT_EXCEEDED',
    'The stored request contents of the account have reached its limit; they are removed after their retention period. Nothing was charged.',
    { details: { storedBytes: stored, limitBytes: limit } },
  );
}

/** Limits on the bytes that an account stores, in total and per minute. */
export interface StorageLimits {
  readonly storageMeter: StorageMeter;
  readonly storagePace: StoragePace;
}

/** Smaller inputs are stored at once. */
const LARGE_BYTES = 64 * 1024;
const MAX_BYTES = 2 * 1024 * 1024;
const MOST_WAIT_MS = 10_000;

/**
 * Waits until the account may store these inputs `copies` times, at the pace of streams and large results: one copy after the other, so that
 * others store between them. Throws RATE_LIMITED when that takes too long.
 */
export async function paceInputs(
  { storagePace, clock }: Pick<Store, 'clock'> & { readonly storagePace: StoragePace },
  accountId: string,
  contents: readonly unknown[],
  { copies, deadline }: { readonly copies: number; readonly deadline: Date },
): Promise<void> {
  const bytes = jsonSizeUpTo(MAX_BYTES, contents);
  if (bytes * copies < LARGE_BYTES) return;
  const leftMs = Math.max(0, deadline.getTime() - clock.now().getTime());
  const signal = AbortSignal.timeout(Math.min(MOST_WAIT_MS, Math.floor(leftMs / 2)));
  for (let copy = 0; copy < copies && !signal.aborted; copy++) await storagePace.take(accountId, bytes, signal);
  if (!signal.aborted) return;
  throw new AppError(
    'RATE_LIMITED',
    'This account stores inputs faster than it may. Send fewer or smaller ones, and repeat the request after Retry-After.',
    { details: { limit: storagePace.bytesPerMinute, type: 'storedBytes', retryAfterS: MOST_WAIT_MS / 1000 } },
  );
}

type RetentionContext = Store & { readonly retention: Retention };

/** No request runs longer than a day: chunks two days older than the stream retention belong to requests that ended in time. */
const MAX_RUN_DAYS = 2;
const QUOTE_DAYS = 1;
/** Time to keep results of visitors; to keep them longer, open an account. */
const VISITOR_MS = 6 * HOUR_MS;

/** Removes contents of requests, stream chunks and quotes after their retention period. */
export async function forgetContents(ctx: RetentionContext): Promise<void> {
  const now = ctx.clock.now();
  const { resultDays, chunkDays } = ctx.retention;
  const results = daysBefore(now, resultDays);
  const ofVisitors = { endedBefore: new Date(now.getTime() - VISITOR_MS), now };
  const visitors = await visitorAccountIds(ctx);
  await removeInSteps((most) => ctx.db.transaction((tx) => removeContentsOf(tx, visitors, ofVisitors, { most })));
  const chunks = daysBefore(now, chunkDays + MAX_RUN_DAYS);
  await removeInSteps((most) => ctx.db.transaction((tx) => removeContents(tx, results, now, { most })));
  await removeInSteps((most) => ctx.db.transaction((tx) => removeChunks(tx, chunks, most)));
  await removeInSteps((most) => removeQuotes(ctx.db, daysBefore(now, QUOTE_DAYS), most));
}

export const aggregateStoredBytes = (ctx: Store): Promise<void> =>
  removeInSteps((most) => ctx.db.transaction((tx) => aggregateStorage(tx, most)));

/** Bytes of streams, large results and large inputs that accounts store in this process. */
export interface StoragePace extends FairPace {
  /** Limit of one account. */
  readonly bytesPerMinute: number;
}

/** Part of a minute's bytes that an account may store at once. */
const BURST = 1 / 8;
/** Number of accounts that share the total pace: an account may store at most a quarter of it. */
const ACCOUNTS = 4;
/** Bytes that all accounts may store at once: the longest wait of another's short statement. */
const BURST_OF_ALL = 256 * 1024;

/**
 * Limits how fast accounts store: a faster agent waits until its stream is read on, or its result stored, so that it delays neither the
 * database nor the event loop. `perMinute`: bytes of one account.
 */
export function createStoragePace(perMinute: number): StoragePace {
  const perS = perMinute / 60;
  const pace = createFairPace({
    ofOne: { perS, burst: perMinute * BURST },
    ofAll: { perS: perS * ACCOUNTS, burst: BURST_OF_ALL },
  });
  return { ...pace, bytesPerMinute: perMinute };
}
