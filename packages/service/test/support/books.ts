import pg from 'pg';
import { openDatabase } from '../../src/db/database.ts';
import { findMoneyContradictions } from '../../src/invocations/audit-money.ts';
import { silentLog } from '../../src/lib/log.ts';
import { until } from '../../src/lib/until.ts';

const WALLET = `
  select coalesce(sum(case when debit = 'wallet' then amount_micro else -amount_micro end), 0)::text as micro
    from transfer where debit = 'wallet' or credit = 'wallet'`;

/** Asks a database with a connection of its own, whatever becomes of the services on it. */
export async function askDatabase<Row extends pg.QueryResultRow>(
  databaseUrl: string,
  text: string,
  params: readonly unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client(databaseUrl);
  // A connection that is lost fails its query; it need not fail the test run as well.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(text, [...params])).rows;
  } finally {
    await client.end();
  }
}

/**
 * What the records of requests and of money say against each other; empty when every balance is the sum of its movements and every
 * request was paid for once or paid back. What is on its way back is given a moment to get there.
 */
export async function contradictions(databaseUrl: string): Promise<string[]> {
  const db = openDatabase(databaseUrl, { max: 4, log: silentLog });
  try {
    let found = await findMoneyContradictions({ db });
    const none = async () => {
      found = await findMoneyContradictions({ db });
      return found.length === 0 ? true : null;
    };
    if (found.length > 0) await until(none, { timeoutMs: 3000, firstMs: 20, mostMs: 200 });
    return found.map(({ kind, subject, detail }) => `${kind}: ${subject} ${detail}`);
  } finally {
    await db.close();
  }
}

/** What the node's wallet must hold on chain by its books. */
export async function walletByBooks(databaseUrl: string): Promise<bigint> {
  const [row] = await askDatabase<{ micro: string }>(databaseUrl, WALLET);
  return BigInt(row?.micro ?? 0);
}
