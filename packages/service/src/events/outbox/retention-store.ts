import type { Sql, Tx } from '../../db/sql.ts';

/** Removes ended deliveries with their attempts. Returns their number. */
export async function removeDeliveries(sql: Sql, before: Date, most: number): Promise<number> {
  const rows = await sql.query(
    'remove-deliveries',
    `delete from webhook_delivery where state <> 'pending' and id in (
       select id from webhook_delivery where state <> 'pending' and created_at < $1 order by created_at limit $2) returning 1`,
    [before, most],
  );
  return rows.length;
}

/**
 * Removes the oldest events without pending deliveries, at most so many, and records the horizon of each account. Looks at ten times as many
 * and no more, however few of them are old enough. The newest event stays, because the clock of sequences depends on it. Returns their
 * number.
 */
export async function removeEvents(tx: Tx, before: Date, most: number): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    'remove-events',
    `with gone as (
       delete from event where sequence in (
         select e.sequence from (select * from event order by sequence limit $2::bigint * 10) e
          where e.created_at < $1 and not e.needs_fan_out and e.sequence < (select max(sequence) from event)
            and not exists (select from webhook_delivery d where d.event_id = e.id and d.state = 'pending')
          order by e.sequence limit $2::bigint)
       returning account_id, sequence
     ), noted as (
       insert into event_horizon as h (account_id, sequence) select account_id, max(sequence) from gone group by account_id
       on conflict (account_id) do update set sequence = greatest(h.sequence, excluded.sequence)
     )
     select count(*)::int as count from gone`,
    [before, most],
  );
  return row?.count ?? 0;
}

/** Highest sequence of removed events of the account; 0: none. */
export async function findHorizon(sql: Sql, accountId: string): Promise<number> {
  const [row] = await sql.query<{ sequence: bigint }>(
    'find-horizon',
    'select sequence from event_horizon where account_id = $1',
    [accountId],
  );
  return Number(row?.sequence ?? 0);
}
