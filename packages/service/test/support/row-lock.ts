import pg from 'pg';
import { until } from '../../src/lib/concurrency/until.ts';
import { askDatabase } from './books.ts';

export interface RowLock {
  /** Resolves when somebody waits for the row. */
  untilWaitedFor(): Promise<void>;
  release(): Promise<void>;
}

/** Holds a request's row, so that whoever wants to move it on stands still right before. */
export async function lockInvocation(databaseUrl: string, requestId: string): Promise<RowLock> {
  const client = await begin(databaseUrl);
  const { rowCount } = await client.query('select id from invocation where id = $1 for update', [requestId]);
  if (rowCount !== 1) throw new Error(`there is no request ${requestId}`);
  return lockOf(client, databaseUrl);
}

/** Holds the row of a ledger account, as a transaction does that is slow. */
export async function lockAccount(databaseUrl: string, ledgerAccountId: string): Promise<RowLock> {
  const client = await begin(databaseUrl);
  const { rowCount } = await client.query('select id from ledger_account where id = $1 for update', [ledgerAccountId]);
  if (rowCount !== 1) throw new Error(`there is no ledger account ${ledgerAccountId}`);
  return lockOf(client, databaseUrl);
}

async function begin(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  await client.query('begin');
  return client;
}

function lockOf(client: pg.Client, databaseUrl: string): RowLock {
  let isHeld = true;
  return {
    async untilWaitedFor() {
      const waiting = `select count(*)::int as waiting from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query ilike '%invocation%'`;
      const seen = await until(
        async () => ((await askDatabase<{ waiting: number }>(databaseUrl, waiting))[0]?.waiting ? true : null),
        { timeoutMs: 10_000, firstMs: 5, mostMs: 50 },
      );
      if (!seen) throw new Error('nobody waits for the request');
    },
    async release() {
      if (!isHeld) return;
      isHeld = false;
      await client.query('rollback');
      await client.end();
    },
  };
}
