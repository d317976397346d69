import type { HasDb } from '../../db/database.ts';
import { foldTotalRows } from './ledger-total-store.ts';

/** Folds the ledger's accumulated total changes into one row per kind: sums stay the same and stay fast to read. */
export const foldTotals = async (ctx: HasDb): Promise<void> => void (await foldTotalRows(ctx.db));
