import type { Tx } from '../../db/sql.ts';
import { newId } from '../../lib/id.ts';
import { invariant } from '../../lib/invariant.ts';
import { findTreasuryIds, openLedgerAccounts } from './ledger-store.ts';

/** Returns the id of the account's treasury, opening it if needed, in the caller's transaction. */
export async function openTreasury(tx: Tx, accountId: string, now: Date): Promise<string> {
  const id = (await openTreasuries(tx, [accountId], now)).get(accountId);
  invariant(id !== undefined, 'a treasury that was opened is there');
  return id;
}

/** The same of several accounts, each named once: the ids of their treasuries, by account. */
export async function openTreasuries(
  tx: Tx,
  accountIds: readonly string[],
  now: Date,
): Promise<ReadonlyMap<string, string>> {
  const known = await findTreasuryIds(tx, accountIds);
  const missing = accountIds.filter((accountId) => !known.has(accountId));
  if (missing.length === 0) return known;
  await openLedgerAccounts(
    tx,
    missing.map((accountId) => ({ id: newId('trs'), kind: 'treasury', accountId })),
    now,
  );
  return findTreasuryIds(tx, accountIds);
}
