import type { Tx } from '../../db/sql.ts';
import type { Turns } from '../../lib/turns.ts';
import type { HoldAnswer, HoldEnd, HoldRequest } from './hold.ts';
import { endHoldRows, placeHoldRows } from './hold-store.ts';

/** Batches that move the money of requests would wait for each other at the accounts that are in both. */
export interface HasLedgerTurns {
  readonly ledgerTurns: Turns;
}

/** Sets money aside in the caller's transaction, for as many of the requests, in their order, as each account can bear. */
export const holdMoney = async (tx: Tx, requests: readonly HoldRequest[], now: Date): Promise<HoldAnswer[]> =>
  requests.length === 0 ? [] : placeHoldRows(tx, requests, now);

/** Ends holds in the caller's transaction: captures a part, releases the rest. One that has ended stays as it is. */
export async function endHolds(tx: Tx, ends: readonly HoldEnd[], now: Date): Promise<void> {
  if (ends.length > 0) await endHoldRows(tx, ends, now);
}
