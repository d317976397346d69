import type { HasDb } from '../../db/database.ts';
import type { HasClock } from '../../lib/clock.ts';
import { foldCallChanges, forgetHours } from './call-figure-store.ts';

const BATCH = 2000;
/** Hours are asked for today only. */
const HOURS_KEPT_MS = 48 * 3_600_000;

/** Carries what was added to the figures of calls since the last time into them: answers stay the same, and stay quick. */
export async function foldFigures(ctx: HasDb & HasClock): Promise<void> {
  while ((await foldCallChanges(ctx.db, BATCH)) === BATCH);
  await forgetHours(ctx.db, new Date(ctx.clock.now().getTime() - HOURS_KEPT_MS));
}
