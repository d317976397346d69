import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { silentLog } from '../../packages/service/src/lib/telemetry/log.ts';
import { startEmbeddedPostgres } from '../../packages/service/src/store/embedded-postgres.ts';
import type { StopList } from '../stop-list.ts';

/** One PostgreSQL with two databases: a node without a past, and one with many invocations. */
export interface SizeServer {
  readonly urls: Readonly<Record<SizedName, string>>;
  stop(): Promise<void>;
}

export type SizedName = 'empty' | 'big';
export const sizedNames = ['empty', 'big'] as const;

/** With the memory that an operator of so many calls gives it. Without `isDurable` nothing waits for the disk: while rows are filled in. */
export async function startSizeServer(stops: StopList, folder: string, isDurable: boolean): Promise<SizeServer> {
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o755);
  const server = await startEmbeddedPostgres({
    dataDir: join(folder, 'server'),
    durable: isDurable,
    settings: { shared_buffers: '2GB', max_wal_size: '4GB', max_connections: '200' },
    log: silentLog,
  });
  stops.add(() => server.stop());
  await withClient(server.url, async (client) => {
    const { rows } = await client.query<{ datname: string }>('select datname from pg_database');
    for (const name of sizedNames)
      if (!rows.some(({ datname }) => datname === name)) await client.query(`create database ${name}`);
  });
  const urlOf = (name: SizedName) => {
    const url = new URL(server.url);
    url.pathname = `/${name}`;
    return url.href;
  };
  return { urls: { empty: urlOf('empty'), big: urlOf('big') }, stop: () => server.stop() };
}

export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  // A server that stops closes the connection; whoever waits for an answer is told by its own query.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
