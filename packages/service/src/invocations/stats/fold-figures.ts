import type { HasDb } from '../../db/database.ts';
import type { HasClock } from '../../lib/clock.ts';
import { foldCallChanges, forgetHours } from './call-figure-store.ts';

const BATCH = 2000;
/** Hourly figures are read for one day only. */
const HOURS_KEPT_MS = 48 * 3_600_000;

/** Folds the recent changes into the figures of calls. Answers do not change; queries stay fast. */
export async function foldFigures(ctx: HasDb & HasClock): Promise<void> {
  while ((await foldCallChanges(ctx.db, BATCH)) === BATCH);
  await forgetHours(ctx.db, new Date(ctx.clock.now().getTime() - HOURS_KEPT_MS));
}
