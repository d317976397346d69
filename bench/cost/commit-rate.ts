import pg from 'pg';
import { measure } from '../measure.ts';

export interface CommitRate {
  readonly connections: number;
  readonly perSecond: number;
  readonly p50Ms: number;
}

const ROW = 'x'.repeat(500);

/** Durable commits of one row of 500 bytes each, by so many connections at once: what the disk and group commit give. */
export async function commitRates(databaseUrl: string, seconds: number): Promise<CommitRate[]> {
  const rates: CommitRate[] = [];
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 64 });
  try {
    await pool.query('create table if not exists bench_commit (id bigint generated always as identity, data text)');
    for (const connections of [1, 16, 64]) {
      const clients = await Promise.all(Array.from({ length: connections }, () => pool.connect()));
      const commit = async (caller: number) => {
        await clients[caller]?.query({
          name: 'commit',
          text: 'insert into bench_commit (data) values ($1)',
          values: [ROW],
        });
        return true;
      };
      const { perSecond, p50Ms } = await measure(commit, { callers: connections, seconds });
      rates.push({ connections, perSecond, p50Ms });
      for (const client of clients) client.release();
    }
    await pool.query('drop table bench_commit');
    return rates;
  } finally {
    await pool.end();
  }
}
