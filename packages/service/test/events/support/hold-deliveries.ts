import pg from 'pg';
import { expect, onTestFinished } from 'vitest';
import { askDatabase } from '../../support/books.ts';

/** Holds the deliveries of a webhook: who writes them stands still, as one does that has millions to write. */
export async function holdDeliveries(databaseUrl: string, webhookId: string) {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  onTestFinished(() => client.end());
  await client.query('begin');
  await client.query('select id from webhook_delivery where webhook_id = $1 for update', [webhookId]);
  const waiting = `select count(*)::int as count from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  const countWaiting = async () => (await askDatabase<{ count: number }>(databaseUrl, waiting))[0]?.count;
  return {
    untilWaitedFor: () => expect.poll(countWaiting).toBeGreaterThan(0),
    release: () => client.query('rollback'),
  };
}
