import type { HasDb } from '../../db/database.ts';
import { foldTotalRows } from './ledger-total-store.ts';

/** Folds what was added to the totals of the ledger since the last time: the sums stay the same, and stay quick, whatever moved. */
export const foldTotals = async (ctx: HasDb): Promise<void> => void (await foldTotalRows(ctx.db));
