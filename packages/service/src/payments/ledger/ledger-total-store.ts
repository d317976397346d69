import type { Sql } from '../../store/sql.ts';
import type { LedgerAsset } from './asset-account.ts';
import { type LedgerAccountKind, WALLET } from './ledger-store.ts';

/** Sum of all accounts in an asset by kind, in one snapshot; kinds without money are left out. */
export async function sumByKind(sql: Sql, asset: LedgerAsset = null): Promise<ReadonlyMap<LedgerAccountKind, bigint>> {
  const rows = await sql.query<{ kind: LedgerAccountKind; sum: bigint }>(
    'sum-by-kind',
    'select kind, sum(change_micro)::bigint as sum from ledger_total where asset is not distinct from $1 group by kind',
    [asset],
  );
  return new Map(rows.map(({ kind, sum }) => [kind, sum]));
}

/** The balance of an asset that the node's wallet must have on chain according to the ledger: deposits less payouts. */
export const sumWallet = async (sql: Sql, asset: LedgerAsset = null): Promise<bigint> =>
  -((await sumByKind(sql, asset)).get(WALLET) ?? 0n);

export const HAS_UNAGGREGATED_TOTALS = 'exists (select from ledger_total where not is_folded)';

/** Folds total changes into one row per kind and asset; returns the number of those that had changes. */
export async function aggregateTotalRows(sql: Sql): Promise<number> {
  const [row] = await sql.query<{ folded: bigint }>(
    'fold-totals',
    `with due as (
       select distinct kind, asset from ledger_total where not is_folded
     ), gone as (
       delete from ledger_total t using due where t.kind = due.kind and t.asset is not distinct from due.asset
       returning t.kind, t.asset, t.change_micro
     ), folded as (
       insert into ledger_total (kind, asset, change_micro, is_folded)
       select kind, asset, sum(change_micro)::bigint, true from gone group by kind, asset
     )
     select count(*) as folded from due`,
  );
  return Number(row?.folded ?? 0);
}
