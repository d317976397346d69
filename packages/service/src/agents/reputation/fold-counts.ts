import type { HasDb } from '../../db/database.ts';
import { foldCountRows, foldToggles } from '../search/listing-store.ts';

const BATCH = 500;

/** Folds what was added to the counts and sets of terms since the last time: answers stay the same, and stay quick. */
export async function foldCounts(ctx: HasDb): Promise<void> {
  while ((await foldToggles(ctx.db, BATCH)) === BATCH);
  while ((await foldCountRows(ctx.db, BATCH)) === BATCH);
}
