import pg from 'pg';

/** An event as an invocation's end leaves it, in the order of its transaction, for invocations that there are. */
const insertEvents = `
  with mine as (select (pg_current_xact_id()::text::bigint + xid_offset) * 4096 as first from event_clock),
       ended as (select id, account_id from invocation where status = 'completed' limit 100)
  insert into event (sequence, id, account_id, type, subject_id, data, webhook_url, needs_fan_out, created_at)
  select first + n, 'evt_bench' || first || '_' || n, account_id, 'invocation.completed', id, null, null, true, now()
    from mine, generate_series(0, ($1::int - 1) / (select count(*)::int from ended)) as turn,
         lateral (select id, account_id, turn * (select count(*) from ended) + row_number() over () - 1 as n from ended) as each
   where n < $1::int`;

const PER_TRANSACTION = 1000;

/** Puts events into the outbox, as many as could have come while the node was busy. */
export async function seedEvents(databaseUrl: string, events: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    for (let left = events; left > 0; left -= PER_TRANSACTION)
      await client.query(insertEvents, [Math.min(left, PER_TRANSACTION)]);
  } finally {
    await client.end();
  }
}
