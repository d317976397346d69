import type { Purchases } from '../../payments/onchain/purchases.ts';
import { holdsOf } from '../hold-of.ts';
import { beginPaid } from '../invocation-store.ts';

/** Begins requests in the transactions that record their payments: one is `processing` if and only if its hold exists. */
export const purchases: Purchases = {
  begin: async (tx, paid, now) => holdsOf(await beginPaid(tx, paid, now)),
};
