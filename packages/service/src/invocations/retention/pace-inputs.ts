import { AppError } from '../../lib/app-error.ts';
import type { HasClock } from '../../lib/clock.ts';
import { jsonSizeUpTo } from '../../lib/json/json-limits.ts';
import type { HasStoragePace } from '../stream/storage-pace.ts';
import type { HasStorageMeter } from './require-storage.ts';

/** How much an account stores, and how fast. */
export interface StorageLimits extends HasStorageMeter, HasStoragePace {}

/** Smaller inputs are stored at once. */
const LARGE_BYTES = 64 * 1024;
const MAX_BYTES = 2 * 1024 * 1024;
const MOST_WAIT_MS = 10_000;

/**
 * Waits until the account may store these inputs `copies` times, at the pace of streams and large results: one copy after the other, so that
 * others store between them. Throws RATE_LIMITED when that takes too long.
 */
export async function paceInputs(
  { storagePace, clock }: HasStoragePace & HasClock,
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
