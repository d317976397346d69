import type { Store } from '../store/database.ts';
import type { Sql } from '../store/sql.ts';

/** Accounts of one turn. */
const TURN = 1000;

/**
 * Returns work that brings balances and last uses of the next thousand accounts up to date, from the first again after the last. Lists are
 * sorted by them; their exact values are read with each page.
 */
export function createTotalsRefresh({ db }: Pick<Store, 'db'>): () => Promise<void> {
  let after = '';
  return async () => {
    after = (await refreshAccountTotals(db, after, TURN)) ?? '';
  };
}

/**
 * Brings the balances and the last use of at most `limit` accounts after this one up to date, in the order of their ids. Returns the last
 * of them; null: there are none.
 */
async function refreshAccountTotals(sql: Sql, after: string, limit: number): Promise<string | null> {
  const [row] = await sql.query<{ last: string | null }>(
    'refresh-account-totals',
    `with turn as (
       select account_id from account_totals where account_id > $1 order by account_id limit $2
     ), fresh as (
       select account_id,
              (select coalesce(sum(posted_micro - held_micro), 0) from ledger_account l
                where l.account_id = turn.account_id and kind in ('treasury', 'agent') and asset is null) as available,
              (select date_trunc('minute', max(last_used_at)) from api_key k where k.account_id = turn.account_id) as used_at
         from turn
     ), due as (
       select t.account_id, f.available, f.used_at from account_totals t join fresh f on f.account_id = t.account_id
        where t.available_micro <> f.available or t.seen_at < f.used_at
        order by t.account_id for no key update of t
     ), written as (
       update account_totals t set available_micro = due.available, seen_at = greatest(t.seen_at, due.used_at)
         from due where t.account_id = due.account_id
     )
     select max(account_id) as last from turn`,
    [after, limit],
  );
  return row?.last ?? null;
}
