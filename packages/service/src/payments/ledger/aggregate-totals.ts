import type { Store } from '../../store/database.ts';
import { aggregateTotalRows } from './ledger-total-store.ts';

/** Folds the ledger's accumulated total changes into one row per kind and asset: sums stay the same and stay fast to read. */
export const aggregateTotals = async (ctx: Pick<Store, 'db'>): Promise<void> => void (await aggregateTotalRows(ctx.db));
