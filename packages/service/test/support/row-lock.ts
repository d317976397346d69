import pg from 'pg';
import { askDatabase } from './books.ts';
import { until } from './until.ts';

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

/** Holds a recurring job that no process runs now: none begins it before the lock is released. */
export async function lockRecurring(databaseUrl: string, name: string): Promise<RowLock> {
  await askDatabase(
    databaseUrl,
    'insert into recurring (name, due_at) values ($1, clock_timestamp()) on conflict do nothing',
    [name],
  );
  const client = await begin(databaseUrl);
  // A run in progress has put off the next one by ten seconds or more, and gives that back at its end.
  const isIdle = `select 1 from recurring where name = $1 and due_at < clock_timestamp() + interval '5 seconds' for update`;
  const lock = lockOf(client, databaseUrl);
  const isHeld = async () => (await client.query(isIdle, [name])).rowCount === 1;
  await until(isHeld, 20).catch(async (error) => {
    await lock.release();
    throw error;
  });
  return lock;
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
      await until(async () => (await askDatabase<{ waiting: number }>(databaseUrl, waiting))[0]?.waiting || null);
    },
    async release() {
      if (!isHeld) return;
      isHeld = false;
      await client.query('rollback');
      await client.end();
    },
  };
}
