import type { Tx } from '../../db/sql.ts';
import { newId } from '../../lib/id.ts';
import { invariant } from '../../lib/invariant.ts';
import { findTreasuryOf, openLedgerAccount } from './ledger-store.ts';

/** Returns the id of the account's treasury, opening it if needed, in the caller's transaction. */
export async function openTreasury(tx: Tx, accountId: string, now: Date): Promise<string> {
  await openLedgerAccount(tx, { id: newId('trs'), kind: 'treasury', accountId, now });
  const treasury = await findTreasuryOf(tx, accountId);
  invariant(treasury !== null, 'a treasury that was opened is there');
  return treasury.id;
}
