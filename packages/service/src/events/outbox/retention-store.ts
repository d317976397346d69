import type { Sql, Tx } from '../../store/sql.ts';

/** Removes up to `most` attempts of the oldest ended deliveries; returns their number. Skips rows that another transaction has locked. */
export async function removeAttempts(sql: Sql, before: Date, most: number): Promise<number> {
  const rows = await sql.query(
    'remove-attempts',
    `delete from webhook_attempt where (delivery_id, number) in (
       select a.delivery_id, a.number
         from (select id from webhook_delivery where state <> 'pending' and created_at < $1 order by created_at, id limit $2) d
         join webhook_attempt a on a.delivery_id = d.id limit $2 for update of a skip locked) returning 1`,
    [before, most],
  );
  return rows.length;
}

/** Removes the oldest ended deliveries with the attempts that they still have; returns their number. */
export async function removeDeliveries(sql: Sql, before: Date, most: number): Promise<number> {
  const rows = await sql.query(
    'remove-deliveries',
    `delete from webhook_delivery where state <> 'pending' and id in (
       select id from webhook_delivery where state <> 'pending' and created_at < $1 order by created_at, id limit $2) returning 1`,
    [before, most],
  );
  return rows.length;
}

/** A step of a walk over the outbox, in the order of events. */
export interface OutboxStep {
  /** The sequence behind which it begins. */
  readonly after: bigint;
  readonly most: number;
}

/**
 * Fails pending deliveries of up to `most` events that happened before a time. Returns the last sequence visited; null: none of the events
 * is old enough.
 */
export async function failOldPending(sql: Sql, before: Date, { after, most }: OutboxStep): Promise<bigint | null> {
  const [row] = await sql.query<{ last: bigint | null }>(
    'fail-old-deliveries',
    `with old as (
       select sequence, id, account_id from (select * from event where sequence > $2 order by sequence limit $3) e where created_at < $1
     ), failed as (
       update webhook_delivery d set state = 'failed', next_attempt_at = null
         from old join webhook w using (account_id)
        where d.webhook_id = w.id and d.event_id = old.id and d.state = 'pending'
     )
     select max(sequence) as last from old`,
    [before, after, most],
  );
  return row?.last ?? null;
}

/**
 * Removes up to `most` events without pending deliveries that happened before a time, and records the horizon of each account. Visits at
 * most ten times as many. The newest event stays, because the clock of sequences depends on it. Returns the last sequence visited; null:
 * none of the visited events is old enough.
 */
export async function removeEvents(tx: Tx, before: Date, { after, most }: OutboxStep): Promise<bigint | null> {
  const [row] = await tx.query<{ last: bigint | null }>(
    'remove-events',
    `with old as (
       select * from (select sequence, id, account_id, needs_fan_out, created_at from event
                       where sequence > $2 order by sequence limit $3::bigint * 10) e where created_at < $1
     ), gone as (
       delete from event where sequence in (
         select sequence from old
          where not needs_fan_out and sequence < (select max(sequence) from event)
            and not exists (select from webhook w join webhook_delivery d on d.webhook_id = w.id and d.event_id = old.id
                             where w.account_id = old.account_id and d.state = 'pending')
          order by sequence limit $3::bigint)
       returning account_id, sequence
     ), noted as (
       insert into event_horizon as h (account_id, sequence) select account_id, max(sequence) from gone group by account_id
       on conflict (account_id) do update set sequence = greatest(h.sequence, excluded.sequence)
     )
     select case when (select count(*) from gone) < $3 then (select max(sequence) from old) else (select max(sequence) from gone) end as last`,
    [before, after, most],
  );
  return row?.last ?? null;
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
