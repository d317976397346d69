import type { Sql } from '../../db/sql.ts';
import { type LedgerAccountKind, WALLET } from './ledger-store.ts';

/** What all accounts of each kind hold together, in one snapshot; a kind without money is left out. */
export async function sumByKind(sql: Sql): Promise<ReadonlyMap<LedgerAccountKind, bigint>> {
  const rows = await sql.query<{ kind: LedgerAccountKind; sum: bigint }>(
    'sum-by-kind',
    'select kind, sum(change_micro)::bigint as sum from ledger_total group by kind',
  );
  return new Map(rows.map(({ kind, sum }) => [kind, sum]));
}

/** What the node's wallet must hold on chain by the ledger: all that came in less all that was paid out. */
export const sumWallet = async (sql: Sql): Promise<bigint> => -((await sumByKind(sql)).get(WALLET) ?? 0n);

/** Folds the changes of the totals into one row for each kind that has some; returns how many kinds had. */
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
