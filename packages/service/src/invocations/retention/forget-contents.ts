import { visitorAccountIds } from '../../access/accounts/visitor-accounts.ts';
import type { HasDb } from '../../db/database.ts';
import type { HasClock } from '../../lib/clock.ts';
import { HOUR_MS } from '../../lib/duration.ts';
import { daysBefore, type HasRetention, removeInSteps } from '../../lib/retention.ts';
import { foldStorage, removeChunks, removeContents, removeContentsOf, removeQuotes } from './storage-store.ts';

type RetentionContext = HasDb & HasClock & HasRetention;

/** No request runs longer than a day: chunks two days older than the stream retention belong to requests that ended in time. */
const MAX_RUN_DAYS = 2;
const QUOTE_DAYS = 1;
/** Results of visitors: whoever wants them later has an account. */
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

export const foldStoredBytes = (ctx: HasDb): Promise<void> =>
  removeInSteps((most) => ctx.db.transaction((tx) => foldStorage(tx, most)));
