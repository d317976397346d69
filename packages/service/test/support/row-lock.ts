import pg from 'pg';
import { until } from '../../src/lib/until.ts';
import { askDatabase } from './books.ts';

export interface RowLock {
  /** Resolves when somebody waits for the row. */
  untilWaitedFor(): Promise<void>;
  release(): Promise<void>;
}

/** Keeps transactions on chain from being written down, so that whoever wants to stands still right before. */
export async function lockWriteAhead(databaseUrl: string): Promise<RowLock> {
  const client = await begin(databaseUrl);
  await client.query('lock table chain_transaction in share mode');
  return lockOf(client, databaseUrl, 'insert into chain_transaction');
}

/** Holds a request's row, so that whoever wants to move it on stands still right before. */
export async function lockInvocation(databaseUrl: string, requestId: string): Promise<RowLock> {
  const client = await begin(databaseUrl);
  const { rowCount } = await client.query('select id from invocation where id = $1 for update', [requestId]);
  if (rowCount !== 1) throw new Error(`there is no request ${requestId}`);
  return lockOf(client, databaseUrl, 'invocation');
}

async function begin(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  await client.query('begin');
  return client;
}

/** `words`: of the statement that waits for it. */
function lockOf(client: pg.Client, databaseUrl: string, words: string): RowLock {
  return {
    async untilWaitedFor() {
      const waiting = `select count(*)::int as waiting from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query ilike '%${words}%'`;
      const seen = await until(
        async () => ((await askDatabase<{ waiting: number }>(databaseUrl, waiting))[0]?.waiting ? true : null),
        { timeoutMs: 10_000, firstMs: 5, mostMs: 50 },
      );
      if (!seen) throw new Error(`nobody waits for what is locked: ${words}`);
    },
    async release() {
      await client.query('rollback');
      await client.end();
    },
  };
}
