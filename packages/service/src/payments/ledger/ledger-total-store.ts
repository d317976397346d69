import type { Sql } from '../../db/sql.ts';
import { type LedgerAccountKind, WALLET } from './ledger-store.ts';

/** Sum of all accounts by kind, in one snapshot; kinds without money are left out. */
export async function sumByKind(sql: Sql): Promise<ReadonlyMap<LedgerAccountKind, bigint>> {
  const rows = await sql.query<{ kind: LedgerAccountKind; sum: bigint }>(
    'sum-by-kind',
    'select kind, sum(change_micro)::bigint as sum from ledger_total group by kind',
  );
  return new Map(rows.map(({ kind, sum }) => [kind, sum]));
}

/** The balance that the node's wallet must have on chain according to the ledger: deposits less payouts. */
export const sumWallet = async (sql: Sql): Promise<bigint> => -((await sumByKind(sql)).get(WALLET) ?? 0n);

export const HAS_UNFOLDED_TOTALS = 'exists (select from ledger_total where not is_folded)';

/** Folds total changes into one row per kind; returns the number of kinds that had changes. */
export async function foldTotalRows(sql: Sql): Promise<number> {
  const [row] = await sql.query<{ folded: bigint }>(
    'fold-totals',
    `with due as (
       select distinct kind from ledger_total where not is_folded
     ), gone as (
       delete from ledger_total where kind in (select kind from due) returning kind, change_micro
     ), folded as (
       insert into ledger_total (kind, change_micro, is_folded) select kind, sum(change_micro)::bigint, true from gone group by kind
     )
     select count(*) as folded from due`,
  );
  return Number(row?.folded ?? 0);
}
