import type { Tx } from '../db/sql.ts';
import type { NewEvent } from './outbox.ts';

/** Inserts events; those of accounts without endpoints need no telling. */
export async function insertEvents(tx: Tx, events: readonly (NewEvent & { id: string })[], now: Date): Promise<void> {
  await tx.query(
    'insert-events',
    `insert into event (id, account_id, type, subject_id, data, webhook_url, needs_fan_out, created_at)
     select id, account, type, subject, data::json, url,
            url is not null or exists (select from webhook w where w.account_id = account and w.status = 'enabled'), $7
       from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
         as n(id, account, type, subject, data, url)`,
    [
      events.map((e) => e.id),
      events.map((e) => e.accountId),
      events.map((e) => e.type),
      events.map((e) => e.subjectId),
      events.map((e) => (e.data === null ? null : JSON.stringify(e.data))),
      events.map((e) => e.webhookUrl ?? null),
      now,
    ],
  );
}
