import type { Sql } from '../../store/sql.ts';

/** Removes up to `most` keys that ended before a time, with the spending of their budgets. Returns the number removed. */
export async function dropDeadKeys(sql: Sql, before: Date, most: number): Promise<number> {
  const gone = await sql.query(
    'drop-dead-keys',
    `with gone as (
       delete from api_key where kind = 'key' and least(revoked_at, expires_at) < $1 and id in (
         select id from api_key where kind = 'key' and least(revoked_at, expires_at) < $1
          order by least(revoked_at, expires_at) limit $2)
       returning coalesce(budget_id, id) as budget_id
     ), spent as (
       delete from key_spending s using gone where s.budget_id = gone.budget_id and s.day < $1::date
     )
     select 1 from gone`,
    [before, most],
  );
  return gone.length;
}
