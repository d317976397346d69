import { newId } from '../../lib/id.ts';
import { invariant } from '../../lib/invariant.ts';
import type { Tx } from '../../store/sql.ts';
import type { LedgerAsset } from './asset-account.ts';
import { findTreasuryIds, openBeside, openLedgerAccounts } from './ledger-store.ts';

/** Returns the id of the account's treasury in an asset, opening it if needed, in the caller's transaction. */
export async function openTreasury(tx: Tx, accountId: string, now: Date, asset: LedgerAsset = null): Promise<string> {
  const id = (await openTreasuries(tx, [accountId], now, asset)).get(accountId);
  invariant(id !== undefined, 'a treasury that was opened is there');
  return id;
}

/** Opens the treasuries of several distinct accounts. Returns their ids by account. */
export async function openTreasuries(
  tx: Tx,
  accountIds: readonly string[],
  now: Date,
  asset: LedgerAsset = null,
): Promise<ReadonlyMap<string, string>> {
  const known = await findTreasuryIds(tx, accountIds, asset);
  const missing = accountIds.filter((accountId) => !known.has(accountId));
  if (missing.length === 0) return known;
  if (asset !== null) await openBeside(tx, [...(await openTreasuries(tx, missing, now)).values()], asset, now);
  else
    await openLedgerAccounts(
      tx,
      missing.map((accountId) => ({ id: newId('trs'), kind: 'treasury', accountId })),
      now,
    );
  return findTreasuryIds(tx, accountIds, asset);
}
