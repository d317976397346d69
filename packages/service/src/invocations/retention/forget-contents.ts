import type { HasDb } from '../../db/database.ts';
import type { HasClock } from '../../lib/clock.ts';
import { daysBefore, type HasRetention, removeInSteps } from '../../lib/retention.ts';
import { foldStorage, removeChunks, removeContents, removeQuotes } from './storage-store.ts';

type RetentionContext = HasDb & HasClock & HasRetention;

/** No request runs longer than a day: chunks two days older than the stream retention belong to requests that ended in time. */
const MAX_RUN_DAYS = 2;
const QUOTE_DAYS = 1;

/** Removes contents of requests, stream chunks and quotes after their retention period. */
export async function forgetContents(ctx: RetentionContext): Promise<void> {
  const now = ctx.clock.now();
  const { resultDays, chunkDays } = ctx.retention;
  const results = daysBefore(now, resultDays);
  const chunks = daysBefore(now, chunkDays + MAX_RUN_DAYS);
  await removeInSteps((most) => ctx.db.transaction((tx) => removeContents(tx, results, now, { most })));
  await removeInSteps((most) => ctx.db.transaction((tx) => removeChunks(tx, chunks, most)));
  await removeInSteps((most) => removeQuotes(ctx.db, daysBefore(now, QUOTE_DAYS), most));
}

export const foldStoredBytes = (ctx: HasDb): Promise<void> =>
  removeInSteps((most) => ctx.db.transaction((tx) => foldStorage(tx, most)));
