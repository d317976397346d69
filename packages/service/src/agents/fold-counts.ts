import type { HasDb } from '../db/database.ts';
import { foldCountRows } from './listing-store.ts';

const BATCH = 500;

/** Folds what was added to the counts of terms since the last time: totals stay the same, and stay quick to sum up. */
export async function foldCounts(ctx: HasDb): Promise<void> {
  while ((await foldCountRows(ctx.db, BATCH)) === BATCH);
}
