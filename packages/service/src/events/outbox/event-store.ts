import type { EventType } from '@agent-network/contracts/events';
import { PreparedJson } from '../../lib/json/prepared-json.ts';
import type { Sql, Statement } from '../../store/sql.ts';
import type { NewEvent } from './new-event.ts';

/** Maximum events of one transaction with distinct sequences. */
export const PER_TRANSACTION = 4096;

/** The first sequence that an open transaction may still write. */
export const UNDECIDED_FROM = `(select (first_open_transaction() + xid_offset) * ${PER_TRANSACTION} from event_clock)`;

/** A transaction writes more events than it has sequences: the next ones are those of another transaction. */
export class TooManyEventsError extends Error {
  override readonly name = 'TooManyEventsError';
}

/**
 * Inserts events; those of accounts without endpoints are not delivered. Returns of each whether it has a receiver; fewer rows when the
 * transaction has no sequences left.
 */
export const eventsInserted = (
  events: readonly (NewEvent & { id: string })[],
  now: Date,
): Statement<{ isToTell: boolean }> => ({
  name: 'insert-events',
  text: `with mine as (
       select (pg_current_xact_id()::text::bigint + xid_offset) * ${PER_TRANSACTION} as first from event_clock
     ), free as (
       select coalesce((select max(sequence) + 1 from event
                         where sequence >= first and sequence < first + ${PER_TRANSACTION}), first) as first from mine
     )
     insert into event (sequence, id, account_id, type, subject_id, data, webhook_url, needs_fan_out, created_at)
     select free.first + nth - 1, id, account, type, subject, data::json, url,
            url is not null or exists (select from webhook w where w.account_id = account and w.kind = 'endpoint'
                                                               and w.status = 'enabled'), $7
       from mine, free, unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
         with ordinality as n(id, account, type, subject, data, url, nth)
      where free.first + cardinality($1::text[]) <= mine.first + ${PER_TRANSACTION}
     returning needs_fan_out as "isToTell"`,
  params: [
    events.map((e) => e.id),
    events.map((e) => e.accountId),
    events.map((e) => e.type),
    events.map((e) => e.subjectId),
    events.map((e) => (e.data === null ? null : JSON.stringify(e.data))),
    events.map((e) => e.webhookUrl ?? null),
    now,
  ],
});

export interface EventRow {
  readonly sequence: bigint;
  readonly eventId: string;
  readonly accountId: string;
  readonly type: EventType;
  readonly subjectId: string;
  /** The event's own JSON; null: it shows its subject. */
  readonly data: PreparedJson | null;
  readonly createdAt: Date;
}

/** Events of an account after a sequence, in order, up to the first possible gap. */
export async function listEventRows(
  sql: Sql,
  accountId: string,
  page: { after: number; type: EventType | null; limit: number },
): Promise<EventRow[]> {
  const rows = await sql.query<Omit<EventRow, 'data'> & { data: string | null }>(
    'list-events',
    `select sequence, id as "eventId", account_id as "accountId", type, subject_id as "subjectId", data::text as data,
            created_at as "createdAt"
       from event
      where account_id = $1 and sequence > $2 and sequence < ${UNDECIDED_FROM} and ($3::text is null or type = $3)
      order by sequence limit $4`,
    [accountId, page.after, page.type, page.limit],
  );
  return rows.map(({ data, ...row }) => ({ ...row, data: data === null ? null : new PreparedJson(data) }));
}

/**
 * Advances the clock of sequences after a restore from a dump, where the database counts transactions from a lower number: new events sort
 * after the old ones. Otherwise no effect.
 */
export async function advanceEventClock(sql: Sql): Promise<void> {
  await sql.query(
    'advance-event-clock',
    `update event_clock set xid_offset = last.xid + 1 - pg_current_xact_id()::text::bigint
       from (select max(sequence) / ${PER_TRANSACTION} as xid from event) last
      where last.xid >= pg_current_xact_id()::text::bigint + xid_offset`,
  );
}
