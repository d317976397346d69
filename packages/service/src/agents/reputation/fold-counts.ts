import type { HasDb } from '../../db/database.ts';
import { foldCountRows, foldToggles } from '../search/listing-store.ts';

const BATCH = 500;

/** Folds the recent changes of counts and sets of terms into their totals. Search results do not change; queries stay fast. */
export async function foldCounts(ctx: HasDb): Promise<void> {
  while ((await foldToggles(ctx.db, BATCH)) === BATCH);
  while ((await foldCountRows(ctx.db, BATCH)) === BATCH);
}
